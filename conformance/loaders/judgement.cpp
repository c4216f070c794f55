#include "conformance/loaders/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/wire/address.h"

namespace assay::loaders {
namespace {

using corrupt::Expected;

constexpr std::string_view no_rule = "none", untested = "untested";

struct Judgement {
  verdict::Verdict verdict = verdict::Verdict::pass;
  verdict::Class failure = verdict::Class::none;
};

Judgement judged(const LoadOutcome& load_outcome, Expected expected, bool control) {
  switch (load_outcome.end) {
    case LoadOutcome::End::crashed:
      return {verdict::Verdict::crash, load_outcome.failure};
    case LoadOutcome::End::hung:
      return {verdict::Verdict::timeout};
    case LoadOutcome::End::left_out:
      return {verdict::Verdict::unsupported};
    case LoadOutcome::End::accepted:
      if (expected == Expected::refused) return {verdict::Verdict::fail, verdict::Class::accepted_though_invalid};
      return {};
    default:
      if (!control) return {verdict::Verdict::unsupported};
      if (expected == Expected::accepted && load_outcome.end == LoadOutcome::End::refused)
        return {verdict::Verdict::fail, verdict::Class::refused_though_valid};
      return {};
  }
}

std::string_view words_of(Expected expected) {
  constexpr std::string_view words[] = {"refused", "accepted", "either"};
  return words[static_cast<std::size_t>(expected)];
}

const std::string& input(const verdict::Record& r, std::string_view name) {
  return std::ranges::find(r.inputs, name, &verdict::NamedText::name)->text;
}

// The place in "Tensor.sizes:length=huge": the part before the change.
std::string place_of(const verdict::Record& r) {
  const std::string& change = input(r, "change");
  return change.substr(0, change.find('='));
}

// A check of a rule that is missing fails at many places of a file; a crash at many places has one reason, which damage
// of the heap moves to any of them.
verdict::StatedCause cause(const verdict::Record& r) {
  const std::string file = concat("with a file that breaks ", r.rule.empty() ? "no rule" : r.rule);
  const bool is_check =
      r.failure == verdict::Class::accepted_though_invalid || r.failure == verdict::Class::refused_though_valid;
  if (is_check) return {r.failure, "", {file}};
  return {r.failure, "", {concat(file, " at ", place_of(r)), file, "with files that break many rules"}};
}

std::string how_to_remake(const verdict::Record& r) {
  const std::string& program = input(r, "program");
  std::vector<std::string> words{"assay", "corrupt"};
  if (!program.empty()) words.push_back(program);
  words.insert(words.end(), {"--name", r.case_id.substr(case_of(program, "").size()), "-o", "FILE"});
  return wire::quoted(words);
}

}  // namespace

std::string case_of(const std::string& program, const std::string& name) {
  return fmt::format("{}:{}", program.empty() ? "rules" : program, name);
}

verdict::Record record_of(std::string_view testee, const std::string& program, const corrupt::Attempt& attempt,
                          const LoadOutcome& load_outcome, bool control) {
  const corrupt::Expectation& e = attempt.expectation;
  const Judgement judgement = judged(load_outcome, e.expected, control);
  verdict::Record r;
  r.testee = testee, r.case_id = case_of(program, attempt.name);
  r.rule = e.faults.empty() ? "" : e.faults.front().rule;
  r.operator_name = r.rule.empty() ? no_rule : r.rule;
  r.valid = e.expected == Expected::accepted;
  r.slices = {r.valid ? "exported" : "invalid"};
  r.verdict = judgement.verdict, r.failure = judgement.failure;
  r.seconds = load_outcome.seconds, r.message = load_outcome.words;
  r.inputs = {{"program", program}, {"change", attempt.subject}};
  r.expected = words_of(e.expected), r.got = word(load_outcome.end);
  r.elements = attempt.files.file.size();
  return r;
}

LoaderDefects::LoaderDefects()
    : defects_("the loader",
               [](const verdict::Record& a, const verdict::Record& b) { return a.elements < b.elements; }) {}

void LoaderDefects::add(const verdict::Record& r) {
  if (verdict::is_failure(r.verdict)) defects_.add(r, cause(r));
}

std::vector<verdict::Defect> LoaderDefects::found() const {
  std::vector<verdict::Defect> all = defects_.found();
  for (verdict::Defect& d : all) d.command = how_to_remake(d.smallest);
  return all;
}

void EndsOfFiles::add(const verdict::Record& r) {
  const std::string end = r.verdict == verdict::Verdict::unsupported ? std::string(untested) : r.got;
  if (r.case_id.starts_with(case_of("", "")) && r.case_id.ends_with("-meets"))
    ++met_[input(r, "change")][r.got];
  else
    ++broken_[r.operator_name][end];
  ++verdicts_[concat(verdict::name(r.verdict), r.failure == verdict::Class::none ? "" : " ", verdict::name(r.failure))];
}

std::string EndsOfFiles::table(const Rules& rules) {
  constexpr std::array<std::string_view, 6> ends{"refused", "accepted", "exhausted", "crashed", "hung", untested};
  std::string all = "| rule |";
  for (const std::string_view end : ends) all += fmt::format(" {} |", end);
  all += "\n|---|--:|--:|--:|--:|--:|--:|\n";
  for (auto [rule, counts] : rules) {
    all += fmt::format("| {} |", rule);
    for (const std::string_view end : ends) all += fmt::format(" {} |", counts[std::string(end)]);
    all += '\n';
  }
  return all;
}

std::string EndsOfFiles::markdown() const {
  std::string all;
  for (const auto& [verdict, count] : verdicts_) all += fmt::format("- {} {}\n", count, verdict);
  all += concat("\n", table(broken_));
  if (!met_.empty()) all += concat("\nFiles that just meet a rule:\n\n", table(met_));
  return all;
}

}  // namespace assay::loaders
