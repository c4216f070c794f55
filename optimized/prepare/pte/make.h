#pragma once

#include "optimized/runtime/method.h"

// Methods of .pte files.
namespace assay::optimized {

// Makes the method of a plan in these memories. Without memories it only counts how large they have to be, and returns
// null. Takes memory from the workspace and gives it back. Null with a fault: the method is refused. The program
// outlives the method.
Method* make_method(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
                    format::Workspace& workspace, const Memories* memories, Sizes& sizes, Fault& fault);

// A workspace of this size is enough.
std::uint64_t workspace_size(const Program& program, const pte::ExecutionPlan& plan);

}  // namespace assay::optimized
