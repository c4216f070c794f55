#pragma once

#include <cstddef>

#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/threads.h"

// out[i, e] = sum_j p[i, j] v[j, e], where p[i, .] is the softmax of s[i, j] = scale sum_d q[i, d] k[j, d] + mask[i,
// j]. Scores are computed for a block of keys and a few queries at a time. After each block, `out` is the attention to
// the keys so far. The next block rescales it by the largest score and the sum of exponentials of each query.
namespace assay::kernels {

// A matrix of floats. The strides are in floats.
struct Strided {
  const float* data = nullptr;
  std::ptrdiff_t row = 0, column = 0;
};

struct Attention {
  InstructionSet set = InstructionSet::sse4;
  // Q has queries x depth elements, k has keys x depth, v has keys x width.
  std::size_t queries = 0, keys = 0, depth = 0, width = 0;
  float scale = 1;
  // Whether a query whose scores are all -infinity gives zeros. If false, it gives NaN.
  bool safe = false;
  bool has_rows_of_keys = false;  // whether the columns of k are contiguous, too
};

// Requires contiguous columns of q, v, mask and out. The mask may also have a single column.
struct AttentionHead {
  Strided q, k, v, mask;  // the mask's data may be null
  float* out = nullptr;
  std::ptrdiff_t out_row = 0;
};

// Computes the results of `queries`. Requires scratch memory of scratch_floats floats, aligned to 64 bytes. The result
// of a query depends on no other query. NaN and infinities are as in the formula; the sign of NaN is not defined. The
// function cannot fail.
void attend(const Attention&, const AttentionHead&, Range queries, float* scratch);
std::size_t attention_scratch(const Attention&);

}  // namespace assay::kernels
