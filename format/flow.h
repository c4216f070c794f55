#pragma once

#include "format/check.h"

// The analysis of data flow: on every path, everything that is read was written before, and nothing wrote over it in
// between. It works on ranges of planned bytes, since the exporter leaves out views: two values with the same place and
// number of bytes are the same bytes. spec/format/flow.md defines the analysis.
namespace assay::format {

// Rules T13, T15, T16, T25 to T27, I9, I10, I12, I15, I18 to I21, V9, M12, H16 of every method. An operator that the
// specification does not have may read or write each of its arguments. Requires a program that keeps every other rule.
void check_flow(const ProgramView& program, Workspace& workspace, Findings& findings);

// Receives the index of each planned tensor whose bytes are live into a method. Such a tensor is state; it begins as
// zeros unless it has an initial value. Requires a program that keeps every rule.
using TellState = void (*)(void* listener, std::uint32_t value);
void each_state(const ProgramView& program, const pte::ExecutionPlan& plan, Workspace& workspace, TellState tell,
                void* listener);

}  // namespace assay::format
