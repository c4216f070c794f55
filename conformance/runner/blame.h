#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/runner/judged.h"

namespace assay {

// The verdicts on the cases of a block, by their ids and in its order, each about its own case:
// - a child that a case has damaged is replaced behind it;
// - behind an abort it goes on, until a case ends it or is answered otherwise than alone: then what comes behind the
//   abort is run again in a fresh child;
// - a failing case counts as it fails alone in a fresh child. Where it fails in the block, but not alone, the case
//   behind which it begins to do so is looked for and blamed (spoils-state), and what comes behind that is run again in
//   a fresh child;
// - so it is when one of the first cases, repeated at the block's end, is answered otherwise than at first;
// - a case that is answered in two ways without any other to blame is not repeatable.
// Throws Interrupted.
std::vector<Record> judge_in_turn(JudgingChildren& children, std::span<const std::string> block);

// The record of a case that is answered in two ways: no field holds either.
Record not_repeatable(Record record);

}  // namespace assay
