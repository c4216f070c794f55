#pragma once

#include <string>
#include <vector>

#include "conformance/verdict/record.h"

namespace assay::defects {

// How a call fails. Two calls of an operator fail alike if their symptoms are equal. A call that the library refuses
// outside its contract is not a failure, but it has the symptom of a refusal.
struct Symptom {
  verdict::Verdict verdict = verdict::Verdict::pass;
  verdict::Class failure =
      verdict::Class::none;  // nan counts as value, because the data decide which of the two a wrong number is
  std::string place;         // the source line that the library named when it refused the call or ended
  std::string said;          // if it named no line, its message without numbers
  // The rule that an invalid call breaks, if the testee answered the call, or ended without naming a line.
  std::string rule;
  // Without numbers; outs that come larger and outs that come smaller are one circumstance, since a kernel that does
  // not resize its outs fails with both. Empty: the call fails as it is.
  std::string circumstance;
  auto operator<=>(const Symptom&) const = default;
};

Symptom symptom_of(const verdict::Record& record);

// The parts of a message that other operators may share. There are some only if the library refused the call or ended,
// and named its source: the function, as "in check_sizes()", or else the file if it belongs to the operator, and the
// text of the message without numbers and the operator's name, as "saying '…'".
std::vector<std::string> reasons_in(const verdict::Record& record);

// The text of the library's message behind the source line that it names, with its numbers; empty if it names no line.
std::string quoted(const verdict::Record& record);

// The first line of a message with '#' in place of each number. Digits of a name, as in "int64", stay if asked for.
std::string without_numbers(std::string_view message, bool keeps_names = false);

// The demand of the reference that an invalid call does not meet, from the expected answer "invalid, <rule>: <demand>".
// Empty if the call is valid.
std::string demand(const verdict::Record& record);

// The only circumstance under which the call fails, as "with outs planned larger"; empty if it fails as it is.
std::string circumstance_of(const verdict::Record& record);

// The circumstance of a symptom with outs of other sizes. Only some calls are tried under it.
inline constexpr std::string_view with_other_outs = "with outs that come larger or smaller";

// True if nothing is known about the results: the call was refused, or it ended the process.
bool hides_results(const Symptom& symptom);

}  // namespace assay::defects
