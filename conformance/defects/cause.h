#pragma once

#include <optional>
#include <vector>

#include "conformance/defects/predicate.h"
#include "conformance/defects/symptom.h"
#include "conformance/runner/case_runner.h"
#include "conformance/verdict/defect.h"

namespace assay {

// What is kept of a judged case until all of its operator are.
struct JudgedCase {
  CaseId id;
  Symptom symptom;
  std::vector<std::string> reasons;  // reasons_in its record
  Verdict verdict;
  Tier tier;
  bool promised, known;
  std::optional<double> distance;
  std::uint64_t elements = 0;
};
JudgedCase seen(const Record& record);

// A reason why calls of an operator fail.
struct Cause {
  const Operator* op;
  Symptom symptom;
  Predicate predicate;   // first what all calls with the symptom have in common because of what it is
  std::size_t premises;  // so many literals
  Trial trial;
  std::vector<JudgedCase> cases;  // of the run, that fail for it
};

// The causes of the failures among the cases of one operator. Where there is a laboratory, more calls are drawn and
// judged to decide between predicates, the same whenever the cases are the same. Throws Interrupted.
std::vector<Cause> causes_of(CaseRunner* case_runner, const Corpus& corpus, const RecordedCalls& calls,
                             std::vector<JudgedCase> cases);

}  // namespace assay
