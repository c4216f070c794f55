#include "conformance/defects/symptom.h"

#include <regex>

namespace assay {
namespace {

std::string place_in(const std::string& message) {
  static const std::regex place(R"([A-Za-z0-9_./-]+\.(?:h|hpp|c|cc|cpp|cxx|py|rs):[0-9]+)");
  std::smatch found;
  return std::regex_search(message, found, place) ? found.str() : std::string();
}

std::string without_numbers(const std::string& message) {
  static const std::regex number(R"([-+]?(?:[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?|nan|inf))");
  return std::regex_replace(message.substr(0, message.find('\n')), number, "#");
}

}  // namespace

bool hides_results(const Symptom& s) {
  return s.verdict == Verdict::crash || s.verdict == Verdict::timeout || s.failure == Class::refused_though_valid;
}

Symptom symptom_of(const Record& r) {
  Symptom s{r.verdict, r.failure == Class::nan ? Class::value : r.failure, {}, {}};
  const bool refused_outside = r.verdict == Verdict::unsupported && r.rule.empty();
  if (refused_outside) s.verdict = Verdict::fail, s.failure = Class::refused_though_valid;
  if (hides_results(s)) s.place = place_in(r.message);
  if (hides_results(s) && s.place.empty()) s.said = without_numbers(r.message);
  if (s.failure == Class::accepted_though_invalid) s.said = r.rule;
  return s;
}

}  // namespace assay
