#pragma once

#include <cstddef>

#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/threads.h"

// out[i, e] = sum_j p[i, j] v[j, e], where p[i, .] is the softmax of s[i, j] = scale sum_d q[i, d] k[j, d] + mask[i,
// j]. Scores are made for a block of keys and a few queries at a time: out is the attention to the keys so far, which
// the next block weighs anew by the largest score and the sum of exponentials that each query has met.
namespace assay::kernels {

// Floats, so many from a row and a column to the next.
struct Strided {
  const float* data = nullptr;
  std::ptrdiff_t row = 0, column = 0;
};

struct Attention {
  InstructionSet set = InstructionSet::sse4;
  std::size_t queries = 0, keys = 0, depth = 0, width = 0;  // q: queries x depth, k: keys x depth, v: keys x width
  float scale = 1;
  bool safe = false;              // a query whose scores are all -infinity has p = 0, else NaN
  bool has_rows_of_keys = false;  // columns of k lie together, too
};

// Columns of q, v, mask and out lie together, those of the mask may be one.
struct AttentionHead {
  Strided q, k, v, mask;  // the mask's data may be null
  float* out = nullptr;
  std::ptrdiff_t out_row = 0;
};

// Of these queries, in so many floats of scratch, at a multiple of 64 bytes. What comes of a query depends on no other.
// Nothing fails. NaN and infinities are as in the formula; NaN has no sign.
void attend(const Attention&, const AttentionHead&, Range queries, float* scratch);
std::size_t attention_scratch(const Attention&);

}  // namespace assay::kernels
