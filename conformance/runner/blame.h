#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/runner/judged.h"

namespace assay::runner {

// Which failing cases of a child run again alone in a fresh child.
enum class Confirm : std::uint8_t {
  all,
  // The first failures, one of several others, and the last. If one of these is answered otherwise alone, the child's
  // cases run again with `all`. This is for testees whose processes take long to start: a runtime that fails in each
  // of 4,000 cases would start 4,000 times.
  some,
};

// The verdicts on the cases of a block, in its order. Each verdict is about its own case:
// - The child is replaced after a case that damaged it.
// - After an abort the child goes on, until a case ends it or is answered differently than when it runs alone. Then the
// cases after
//   the abort run again in a fresh child.
// - A failing case that runs again (Confirm) counts with the result that it has alone in a fresh child. If it fails
// only in the block, the
//   earlier case after which it begins to fail is searched for and blamed (spoils-state), and the cases after that one
//   run again in a fresh child.
// - The first cases are repeated at the block's end. A different answer is handled in the same way.
// - A case that is answered in two ways without another case to blame is not repeatable.
// - Where several cases of a kind hang, only a sample of the others is judged; the rest is left out.
// Throws Interrupted.
std::vector<verdict::Record> judge_in_turn(JudgingChildren& children, std::span<const std::string> block,
                                           Confirm confirm = Confirm::all);

// The record of a case that is answered in two ways: neither answer is in its fields.
verdict::Record not_repeatable(verdict::Record record);

}  // namespace assay::runner
