#pragma once

#include <string>

#include "conformance/cases/recorded.h"

namespace assay {

// Whether two results have the same dtype and sizes, and their elements lie alike in memory.
bool laid_out_alike(const Tensor& a, const Tensor& b);

// What eager made of a recorded call where it is given no outs, against what the entry promises then, dtype, sizes and
// layout, in one sentence; empty where they agree, where eager's was not recorded, and where the call is refused.
std::string fresh_mismatch(const Operator& op, const RecordedCall& recorded);

// Whether eager refused a recorded call, and the entry does, too, where no outs are given. With those that are recorded
// it may refuse it only since they do not fit, as nobody knows what would.
bool refused_without_outs(const Operator& op, const RecordedCall& recorded);

}  // namespace assay
