#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "conformance/defects/predicate.h"
#include "conformance/defects/symptom.h"
#include "conformance/runner/case_runner.h"
#include "conformance/verdict/defect.h"

namespace assay::defects {

// What is kept of a judged case until all cases of its operator are judged.
struct JudgedCase {
  cases::CaseId id;
  Symptom symptom;
  std::string circumstance;          // as returned by circumstance_of
  std::vector<std::string> reasons;  // as returned by reasons_in
  verdict::Verdict verdict;
  verdict::Tier tier;
  bool promised, known;
  std::optional<double> distance;
  std::uint64_t elements = 0;
};
JudgedCase seen(const verdict::Record& record);

constexpr std::size_t few_cases = 3;  // from which on a cause counts beside many cases of others

// A reason why some calls of an operator fail.
struct Cause {
  const Operator* op;
  Symptom symptom;
  Predicate predicate;   // begins with the premises: what all calls with the symptom have in common by its definition
  std::size_t premises;  // the number of literals that are premises
  Predicate named;       // the same with names of arguments, where "a tensor" is always the same one
  std::string does;  // what the kernel does, in the plural, as "ignore alpha"; empty: no more than the symptom is known
  bool is_mistake = false;  // whether `does` is a mistake that other operators may share, whatever their predicates
  bool is_found = true;     // false: the cases have no common cause that could be found
  bool is_sought = true;    // false: no calls were made to find a cause
  verdict::Trial trial;
  std::vector<JudgedCase> cases;  // the cases of the run that fail for this reason
  // Whether a call that fails with the symptom, and the testee's answer to it, show this cause.
  std::function<bool(const cases::HostCall& call, const runner::Judged& answer)> shows = {};
  bool is_foretold = false;                  // whether `does` tells which numbers the kernel returns
  Predicate common = {};                     // if no cause is found: facts that all cases share and few passing calls
  bool is_partly_told = false;               // whether the calls meet more conditions than `predicate` or `does` has
  std::vector<JudgedCase> unexplained = {};  // other cases with wrong results, which the mistake does not explain
};

// The causes of the failures among the cases of one operator. With a case runner, more calls are drawn and judged to
// decide between predicates; equal cases lead to equal draws. Throws Interrupted.
std::vector<Cause> causes_of(runner::CaseRunner* case_runner, const cases::Corpus& corpus,
                             const cases::RecordedCalls& calls, std::vector<JudgedCase> cases);

}  // namespace assay::defects
