#include "conformance/defects/symptom.h"

#include <algorithm>
#include <array>
#include <optional>

#include "conformance/sandbox/probe.h"
#include "reference/fault.h"

namespace assay::defects {
namespace {

constexpr std::string_view digits = "0123456789",
                           of_names = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
constexpr auto endings = std::to_array<std::string_view>({".h", ".hpp", ".c", ".cc", ".cpp", ".cxx", ".py", ".rs"});

// The number of leading characters that belong to a set.
std::size_t leading(std::string_view text, std::string_view set) {
  return std::min(text.find_first_not_of(set), text.size());
}

std::string_view trimmed(std::string_view text, std::string_view set) {
  text.remove_prefix(leading(text, set));
  return text.substr(0, text.find_last_not_of(set) + 1);
}

// The first source place in a message, such as "kernels/op_add.cpp:31", and the text after it.
struct SourcePlace {
  std::string_view file_and_line, behind;
};
std::optional<SourcePlace> place_in(std::string_view message) {
  static const std::string of_paths = std::string(of_names) + "./-";
  for (std::size_t colon = message.find(':'); colon != message.npos; colon = message.find(':', colon + 1)) {
    const std::size_t line = leading(message.substr(colon + 1), digits);
    const std::size_t before = message.substr(0, colon).find_last_not_of(of_paths);
    const std::size_t begin = before == message.npos ? 0 : before + 1;
    const std::string_view file = message.substr(begin, colon - begin);
    const auto ends = [&](std::string_view ending) { return file.size() > ending.size() && file.ends_with(ending); };
    const std::size_t end = colon + 1 + line;
    if (line > 0 && std::ranges::any_of(endings, ends))
      return SourcePlace{message.substr(begin, end - begin), message.substr(end)};
  }
  return std::nullopt;
}

// The length of the printed number at the beginning; 0: there is none.
std::size_t length_of_number(std::string_view text) {
  const auto sign = [&](std::size_t at) { return at < text.size() && (text[at] == '-' || text[at] == '+') ? 1u : 0u; };
  const auto count = [&](std::size_t at) { return at < text.size() ? leading(text.substr(at), digits) : 0; };
  std::size_t n = sign(0);
  if (text.substr(n).starts_with("nan") || text.substr(n).starts_with("inf")) return n + 3;
  if (count(n) == 0) return 0;
  n += count(n);
  if (text.substr(n).starts_with('.')) n += 1 + count(n + 1);
  if (!text.substr(n).starts_with('e')) return n;
  const std::size_t exponent = n + 1 + sign(n + 1);
  return count(exponent) > 0 ? exponent + count(exponent) : n;
}

// Removes "In function NAME (...), " from the text and returns the name; empty if the text has no such part.
std::string take_function(std::string& said) {
  static const std::string of_functions = std::string(of_names) + ":~";
  constexpr std::string_view introduction = "In function ", end = ", ";
  const std::size_t at = said.find(introduction), begin = at + introduction.size();
  if (at == said.npos) return {};
  const std::string name = said.substr(begin, leading(std::string_view(said).substr(begin), of_functions));
  const std::size_t comma = said.find(end, begin + name.size());
  if (name.empty() || comma == said.npos) return {};
  said.erase(at, comma + end.size() - at);
  return name;
}

// "index_put" for "aten::index_put_" or "aten::index_put.out".
std::string base_name(std::string_view operator_name) {
  std::string_view name = operator_name.substr(operator_name.find("::") + 2);
  name = name.substr(0, name.find('.'));
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return std::string(name);
}

}  // namespace

std::string without_numbers(std::string_view message, bool keeps_names) {
  message = message.substr(0, message.find('\n'));
  std::string said;
  while (!message.empty()) {
    const bool is_in_name = keeps_names && !said.empty() && of_names.find(said.back()) != of_names.npos;
    const std::size_t number = is_in_name ? 0 : length_of_number(message);
    said += number > 0 ? '#' : message[0];
    message.remove_prefix(std::max<std::size_t>(number, 1));
  }
  return said;
}

std::string demand(const verdict::Record& r) {
  const std::size_t at = r.expected.find(": ");
  return r.expected.starts_with("invalid, ") || r.expected.starts_with("fault, ") ? r.expected.substr(at + 2) : "";
}

std::string circumstance_of(const verdict::Record& r) {
  const std::size_t end = r.message.find(": ");
  return r.message.starts_with("with ") && end != std::string::npos ? r.message.substr(0, end) : "";
}

bool hides_results(const Symptom& s) {
  return s.verdict == verdict::Verdict::crash || s.verdict == verdict::Verdict::timeout ||
         s.failure == verdict::Class::refused_though_valid;
}

namespace {

std::string text_behind(const SourcePlace& place) {
  return std::string(place.behind.substr(0, place.behind.find_first_of(";\n")));
}

}  // namespace

std::string quoted(const verdict::Record& r) {
  const auto place = hides_results(symptom_of(r)) ? place_in(r.message) : std::nullopt;
  if (!place) return {};
  std::string said = text_behind(*place);
  take_function(said);
  return std::string(trimmed(said, " :"));
}

std::vector<std::string> reasons_in(const verdict::Record& r) {
  if (!hides_results(symptom_of(r))) return {};
  const auto place = place_in(r.message);
  if (!place) return {};
  std::string said = text_behind(*place);
  std::vector<std::string> reasons;
  const std::string_view file = place->file_and_line.substr(0, place->file_and_line.find(':'));
  if (const std::string function = take_function(said); !function.empty())
    reasons.push_back(concat("in ", function, "()"));
  else if (file.find(base_name(r.operator_name)) != file.npos)
    reasons.push_back(concat("in ", file));
  const std::string name = r.operator_name.substr(r.operator_name.find("::") + 2);
  if (const std::size_t at = said.find(name); at != std::string::npos) said.replace(at, name.size(), "it");
  said = trimmed(without_numbers(said, true), " :");
  if (!said.empty() && !said.ends_with("(false)")) reasons.push_back(concat("saying '", said, "'"));
  return reasons;
}

namespace {

std::string kind_of_circumstance(const verdict::Record& r) {
  const std::string own = circumstance_of(r);
  return own == sandbox::larger_outs || own == sandbox::smaller_outs ? std::string(with_other_outs)
                                                                     : without_numbers(own);
}

}  // namespace

Symptom symptom_of(const verdict::Record& r) {
  Symptom s{r.verdict, r.failure == verdict::Class::nan ? verdict::Class::value : r.failure,
            {},        {},
            {},        kind_of_circumstance(r)};
  const bool refused_outside = r.verdict == verdict::Verdict::unsupported && r.rule.empty();
  if (refused_outside) s.verdict = verdict::Verdict::fail, s.failure = verdict::Class::refused_though_valid;
  if (hides_results(s)) {
    if (const auto place = place_in(r.message))
      s.place = place->file_and_line;
    else if (!r.valid && r.verdict == verdict::Verdict::crash && !r.rule.empty())
      s.rule = r.rule;
    else
      s.said = without_numbers(r.message);
  }
  if (s.failure == verdict::Class::accepted_though_invalid) s.rule = r.rule;
  return s;
}

}  // namespace assay::defects
