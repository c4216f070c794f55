#include "conformance/defects/symptom.h"

#include <regex>

namespace assay {
namespace {

std::string sign_of(const std::string& message) {
  static const std::regex place(R"([A-Za-z0-9_./-]+\.(?:h|hpp|c|cc|cpp|cxx|py|rs):[0-9]+)");
  static const std::regex number(R"([-+]?(?:[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?|nan|inf))");
  std::smatch found;
  if (std::regex_search(message, found, place)) return found.str();
  return std::regex_replace(message.substr(0, message.find('\n')), number, "#");
}

}  // namespace

bool hides_results(const Symptom& s) {
  return s.verdict == Verdict::crash || s.verdict == Verdict::timeout || s.failure == Class::refused_though_valid;
}

Symptom symptom_of(const Record& r) {
  Symptom s{r.verdict, r.failure == Class::nan ? Class::value : r.failure, {}};
  const bool refused_outside = r.verdict == Verdict::unsupported && r.rule.empty();
  if (refused_outside) s.verdict = Verdict::fail, s.failure = Class::refused_though_valid;
  if (hides_results(s)) s.sign = sign_of(r.message);
  if (s.failure == Class::accepted_though_invalid) s.sign = r.rule;
  return s;
}

}  // namespace assay
