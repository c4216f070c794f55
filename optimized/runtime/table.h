#pragma once

#include "optimized/runtime/kernel.h"

namespace assay::optimized {

struct Rewrite;

// The kernels and rewrites of the build.
std::span<const KernelRow> kernel_table();
std::span<const Rewrite* const> rewrite_table();

// Whether numbers that the call takes, by themselves or in a list, are always what they are in the file: then they are
// of the types that the operator's schema says (I10).
bool keeps_numbers(const Call& call);
// Whether they are now.
bool has_kinds(const Call& call);

// The dtypes of the call's tensors and how they lie, in the order of its arguments: "float32 channels last, float32,
// [int64]", brackets around those of a list, none for a tensor that is left out.
void write_operands(const Call& call, format::Text& to);

// The first kernel of the build that accepts the call; null: there is none. Of a selective build it may yet lack these
// operands, as calls are looked at that rewrites do away with.
const Kernel* find_kernel(const Call& call);
// The first of them that the build has for these operands, too.
const Kernel* find_kernel(const Call& call, std::string_view operands);

}  // namespace assay::optimized
