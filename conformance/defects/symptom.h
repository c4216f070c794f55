#pragma once

#include <string>
#include <vector>

#include "conformance/verdict/record.h"

namespace assay {

// How a call fails. Two calls of an operator fail alike when their symptoms are equal. A call that the library refuses
// outside its contract is no failure, but has the symptom of one.
struct Symptom {
  Verdict verdict = Verdict::pass;
  Class failure = Class::none;  // nan counts as value: which of them a wrong number is, is the data's doing
  std::string place;            // the line of its source that the library named as it refused or ended
  std::string said;             // where it named none: its words, without numbers; of an invalid call that is accepted
                                // the rule
  auto operator<=>(const Symptom&) const = default;
};

Symptom symptom_of(const Record& record);

// What other operators may share of the message of a library that refused a call or ended, and named its source: the
// function, as "in check_sizes()", or the file where it is the operator's own, and what it says of itself, without
// numbers and the operator's name, as "saying '…'".
std::vector<std::string> reasons_in(const Record& record);

// Whether there is no telling what else would have been wrong: the call was refused, or ended the process.
bool hides_results(const Symptom& symptom);

}  // namespace assay
