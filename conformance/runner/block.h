#pragma once

#include <vector>

#include "conformance/runner/laboratory.h"

namespace assay {

// Cases that are run one after the other in a child of their own: the history of a case is those before it.
using Block = std::vector<CaseId>;

// The verdicts on the cases of a block, in its order, each about its own call:
// - a child that a case has damaged is replaced behind it;
// - a failing case counts as it fails alone in a fresh child. Where it fails in the block and answers otherwise alone,
//   the case behind which it begins to do so is looked for and blamed (spoils-state), and what comes behind that is run
//   again in a fresh child;
// - so it is when one of the first cases, repeated at the block's end, is answered otherwise than at first;
// - a case that is answered in two ways without any other to blame is not repeatable.
// Throws Interrupted.
std::vector<Record> judge_block(Laboratory& laboratory, const Block& block);

}  // namespace assay
