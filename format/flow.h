#pragma once

#include "format/check.h"

// The analysis of data flow: what is read was written, on every path, and nothing in between wrote over it. It works on
// ranges of planned bytes, since the exporter leaves views out: two values at one place of as many bytes are the same
// bytes. spec/format/flow.md says what it asks.
namespace assay::format {

// Rules T13, T15, T16, T25 to T27, I9, I10, I12, I15, I18 to I21, V9, M12, H16 of every method, for operators that the
// specification has; of others every argument may be read or written. The program keeps every other rule.
void check_flow(const ProgramView& program, Workspace& workspace, Findings& findings);

// Told of each planned tensor of a method whose bytes are live into it: state, which begins as zeros unless it has an
// initial value. The program keeps every rule.
using TellState = void (*)(void* listener, std::uint32_t value);
void each_state(const ProgramView& program, const pte::ExecutionPlan& plan, Workspace& workspace, TellState tell,
                void* listener);

}  // namespace assay::format
