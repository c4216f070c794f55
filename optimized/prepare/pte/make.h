#pragma once

#include "optimized/runtime/method.h"

// Makes methods of .pte files.
namespace assay::optimized {

// Makes the method of a plan in `memories`. Without memories it only counts how large they must be, and returns null.
// Takes memory from the workspace and gives it back. If it refuses the method, it sets the fault and returns null.
// Requires that the program outlives the method.
Method* make_method(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
                    format::Workspace& workspace, const Memories* memories, Sizes& sizes, Fault& fault);

// The size of a workspace that is large enough, in bytes. `depth` is the number of programs around the program.
std::uint64_t workspace_size(const Program& program, const pte::ExecutionPlan& plan, std::uint32_t depth = 0);

}  // namespace assay::optimized
