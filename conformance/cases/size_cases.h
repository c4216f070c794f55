#pragma once

#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace assay {

// Lines of MadeCases for an operator: its calls at the sizes on which kernels branch, which are the widths of vectors
// and of unrolled loops, blocks, and the shares of threads. Each line changes one distinct size of a recorded call
// whose values are finite, where the reference answers the call. The size with the cheapest calls gets all lengths,
// first in float32 and some of them in each other dtype; each other size gets fewer. Lengths are left out where the
// calls of a line would cost the reference too much work.
std::vector<std::string> size_cases(const Corpus& corpus, const RecordedCalls& calls);

}  // namespace assay
