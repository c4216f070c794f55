#pragma once

#include "optimized/runtime/backend.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized {

struct Rewrite;

// The kernels, rewrites and backends of the build.
std::span<const KernelRow> kernel_table();
std::span<const Rewrite* const> rewrite_table();
std::span<const PlannedBackend* const> backend_table();

// Whether no number that the call takes, single or in a list, can change. Such numbers have the types that the
// operator's schema states (rule I10).
bool keeps_numbers(const Call& call);
// Whether the numbers that the call takes have the types of the schema now.
bool has_kinds(const Call& call);

// Writes the dtypes and layouts of the call's tensors, in the order of its arguments, such as "float32 channels last,
// float32, [int64]". Brackets enclose a list. "none" is written for a tensor that is None.
void write_operands(const Call& call, format::Text& to);

// The first kernel of the build that accepts the call and is not a plain loop, or null. In a selective build the kernel
// may have been built for other operands only. Rewrites use this function for calls that they may remove, so that no
// rewrite leaves a call to a plain loop.
const Kernel* find_kernel(const Call& call);
// The first kernel that accepts the call and that the build contains for these operands, or null. A build that is not
// selective contains its kernels for all operands.
const Kernel* find_kernel(const Call& call, std::string_view operands);
// The function of a plain loop that does the call without state, or null. A kernel that does not support the sizes of
// an execution leaves the call to it.
decltype(Step::run) find_loop(const Call& call);

}  // namespace assay::optimized
