#pragma once

#include <vector>

#include "conformance/cases/case.h"

namespace assay::cases {

// The calls of an operator at the sizes on which kernels branch: the widths of vectors and of unrolled loops, blocks,
// and the shares of threads. Each case changes one distinct size of a recorded call whose values are finite, and the
// reference answers it. The size with the cheapest calls gets all lengths in float32, and some of them in each other
// dtype; each other size gets fewer lengths. Lengths that cost the reference too much work are left out.
std::vector<CaseId> size_cases(const Corpus& corpus, const RecordedCalls& calls);

// Calls of several vectors of equal sizes that are longer than the shares of threads, because kernels have their
// fastest loops for such calls; and calls with rows of several blocks, along the last and along an inner dimension,
// because kernels carry sums from block to block.
std::vector<CaseId> long_cases(const Corpus& corpus, const RecordedCalls& calls);

}  // namespace assay::cases
