#pragma once

#include <string>

#include "conformance/cases/recorded.h"

namespace assay::cases {

// Whether two results have the same dtype and sizes, and the same order of elements in memory.
bool laid_out_alike(const Tensor& a, const Tensor& b);

// One sentence about how eager and the entry disagree on a recorded call without given outs: eager's results differ in
// dtype, sizes or layout, or one of the two refuses the call. Empty if they agree, and for operators whose results are
// numbers. A given out may be refused because nothing is known that would fit; without outs, a refusal concerns the
// call itself.
std::string fresh_mismatch(const Operator& op, const RecordedCall& recorded);

}  // namespace assay::cases
