#pragma once

#include "format/check.h"

// Checks the data flow of methods. On every path to a read, an earlier write must have written the bytes that are read,
// and no other write may have changed these bytes in between. The analysis works on ranges of planned bytes, not on
// values, because the exporter removes views: two values with the same offset and size share their bytes.
// spec/format/flow.md defines the analysis.
namespace assay::format {

// Checks the rules T13, T15, T16, T25 to T27, I9, I10, I12, I15, I18 to I21, V9, M12 and H16 for every method. Assumes
// that an operator without an entry in the specification may read and write each of its arguments. Requires a program
// that meets every other rule.
void check_flow(const ProgramView& program, Workspace& workspace, Findings& findings);

// each_state calls `tell` with the index of each planned tensor whose bytes are live when a method begins. Such a
// tensor is state. It begins with the initial value that the program gives it. If the program gives it none, it begins
// with zeros. Requires a program that meets every rule. Each call of `tell` gets `listener` as its first argument.
using TellState = void (*)(void* listener, std::uint32_t value);
void each_state(const ProgramView& program, const pte::ExecutionPlan& plan, Workspace& workspace, TellState tell,
                void* listener);

}  // namespace assay::format
