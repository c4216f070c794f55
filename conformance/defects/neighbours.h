#pragma once

#include <string>
#include <vector>

#include "conformance/runner/case_runner.h"

namespace assay::defects {

// Sentences about calls that differ from a failing call in one argument and that the testee answers rightly. They show
// which values matter: "The call passes if max_val is 1 instead of false", "The call passes with 0 in place of -0 in
// self". If the failing call is invalid, the sentences tell how many calls that break the same rule by another value
// are refused: `The testee refuses 2 of 5 other values of size that break the rule, such as [-1], saying "bad size"`.
// Empty if no sentence is known, or if the call hangs. `failing` has all details. Equal calls lead to equal sentences.
// Throws Interrupted.
std::vector<std::string> neighbours_of(runner::CaseRunner& case_runner, const cases::Corpus& corpus,
                                       const verdict::Record& failing);

}  // namespace assay::defects
