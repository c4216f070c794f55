#pragma once

#include <optional>
#include <vector>

#include "conformance/defects/predicate.h"
#include "conformance/defects/symptom.h"
#include "conformance/runner/case_runner.h"
#include "conformance/verdict/defect.h"

namespace assay {

// What is kept of a judged case until all cases of its operator are judged.
struct JudgedCase {
  CaseId id;
  Symptom symptom;
  std::vector<std::string> reasons;  // as returned by reasons_in
  Verdict verdict;
  Tier tier;
  bool promised, known;
  std::optional<double> distance;
  std::uint64_t elements = 0;
};
JudgedCase seen(const Record& record);

// A reason why some calls of an operator fail.
struct Cause {
  const Operator* op;
  Symptom symptom;
  Predicate predicate;   // begins with the premises: what all calls with the symptom have in common by its definition
  std::size_t premises;  // the number of literals that are premises
  std::string does;  // what the kernel does, in the plural, as "ignore alpha"; empty: no more than the symptom is known
  bool is_found = true;  // false: the cases have no common cause that could be found
  Trial trial;
  std::vector<JudgedCase> cases;  // the cases of the run that fail for this reason
};

// The causes of the failures among the cases of one operator. With a case runner, more calls are drawn and judged to
// decide between predicates; equal cases lead to equal draws. Throws Interrupted.
std::vector<Cause> causes_of(CaseRunner* case_runner, const Corpus& corpus, const RecordedCalls& calls,
                             std::vector<JudgedCase> cases);

}  // namespace assay
