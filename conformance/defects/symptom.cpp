#include "conformance/defects/symptom.h"

#include <regex>

#include "reference/fault.h"

namespace assay {
namespace {

const std::regex place(R"([A-Za-z0-9_./-]+\.(?:h|hpp|c|cc|cpp|cxx|py|rs):[0-9]+)");

std::string place_in(const std::string& message) {
  std::smatch found;
  return std::regex_search(message, found, place) ? found.str() : std::string();
}

std::string without_numbers(const std::string& message) {
  static const std::regex number(R"([-+]?(?:[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?|nan|inf))");
  return std::regex_replace(message.substr(0, message.find('\n')), number, "#");
}

// "index_put" of "aten::index_put_" or "aten::index_put.out".
std::string base_name(std::string_view operator_name) {
  std::string_view name = operator_name.substr(operator_name.find("::") + 2);
  name = name.substr(0, name.find('.'));
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return std::string(name);
}

}  // namespace

bool hides_results(const Symptom& s) {
  return s.verdict == Verdict::crash || s.verdict == Verdict::timeout || s.failure == Class::refused_though_valid;
}

std::vector<std::string> reasons_in(const Record& r) {
  static const std::regex function(R"(In function ([A-Za-z0-9_:~]+)[^\n]*?\)?, )"), blank(R"(^[ :]+|[ :]+$)");
  std::smatch named, inside;
  if (!hides_results(symptom_of(r)) || !std::regex_search(r.message, named, place)) return {};
  std::string said = named.suffix().str();
  said = said.substr(0, said.find_first_of(";\n"));
  std::vector<std::string> reasons;
  if (std::regex_search(said, inside, function)) {
    reasons.push_back(text("in ", inside[1].str(), "()"));
    said = text(inside.prefix().str(), inside.suffix().str());
  } else if (const std::string file = named.str(); file.find(base_name(r.operator_name)) != std::string::npos) {
    reasons.push_back(text("in ", file.substr(0, file.find(':'))));
  }
  const std::string name = r.operator_name.substr(r.operator_name.find("::") + 2);
  if (const std::size_t at = said.find(name); at != std::string::npos) said.replace(at, name.size(), "it");
  said = std::regex_replace(without_numbers(said), blank, "");
  if (!said.empty() && !said.ends_with("(false)")) reasons.push_back(text("saying '", said, "'"));
  return reasons;
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
