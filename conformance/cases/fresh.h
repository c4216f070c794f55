#pragma once

#include <string>

#include "conformance/cases/recorded.h"

namespace assay {

// Whether two results have the same dtype and sizes, and their elements lie alike in memory.
bool laid_out_alike(const Tensor& a, const Tensor& b);

// What eager did of a recorded call where it is given no outs, against what the entry says then, in one sentence: it
// made other results, by dtype, sizes or layout, or one of the two refused the call. Empty where they agree, and where
// results are numbers. An out that is given may be refused since nobody knows what would fit: without, the refusal is
// of the call itself.
std::string fresh_mismatch(const Operator& op, const RecordedCall& recorded);

}  // namespace assay
