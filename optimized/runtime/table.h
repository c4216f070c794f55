#pragma once

#include "optimized/runtime/kernel.h"

namespace assay::optimized {

struct Rewrite;

// The kernels and rewrites of the build.
std::span<const KernelRow> kernel_table();
std::span<const Rewrite* const> rewrite_table();

// Whether the numbers that a call takes, alone or in a list, never change. They then have the types that the operator's
// schema states (I10).
bool keeps_numbers(const Call& call);
// Whether they have these types now.
bool has_kinds(const Call& call);

// Writes the dtypes and layouts of the call's tensors, in the order of its arguments: "float32 channels last, float32,
// [int64]". Brackets enclose a list, and "none" is a tensor that is left out.
void write_operands(const Call& call, format::Text& to);

// The first kernel of the build that accepts the call; null: there is none. A selective build may have the kernel for
// other operands only: rewrites ask this of calls that they may remove.
const Kernel* find_kernel(const Call& call);
// The first kernel that accepts the call and that the build has for these operands.
const Kernel* find_kernel(const Call& call, std::string_view operands);

}  // namespace assay::optimized
