#pragma once

#include <cstddef>

#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/threads.h"

// out[i, e] = sum_j p[i, j] v[j, e], where p[i, .] is the softmax of s[i, j] = scale sum_d q[i, d] k[j, d] + mask[i,
// j]. Scores are computed for a block of keys and a few queries at a time. `out` is the attention to the keys so far;
// the next block rescales it by the largest score and the sum of exponentials that each query has met.
namespace assay::kernels {

// A matrix of floats with strides of rows and columns.
struct Strided {
  const float* data = nullptr;
  std::ptrdiff_t row = 0, column = 0;
};

struct Attention {
  InstructionSet set = InstructionSet::sse4;
  std::size_t queries = 0, keys = 0, depth = 0, width = 0;  // q: queries x depth, k: keys x depth, v: keys x width
  float scale = 1;
  bool safe = false;              // a query whose scores are all -infinity gives zeros, else NaN
  bool has_rows_of_keys = false;  // columns of k are contiguous, too
};

// Columns of q, v, mask and out are contiguous; the mask may have one column.
struct AttentionHead {
  Strided q, k, v, mask;  // the mask's data may be null
  float* out = nullptr;
  std::ptrdiff_t out_row = 0;
};

// Computes these queries. Scratch has this many floats, at a multiple of 64 bytes. The result of a query depends on no
// other query. NaN and infinities are as in the formula; NaN has no sign. It cannot fail.
void attend(const Attention&, const AttentionHead&, Range queries, float* scratch);
std::size_t attention_scratch(const Attention&);

}  // namespace assay::kernels
