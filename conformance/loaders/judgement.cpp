#include "conformance/loaders/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/wire/address.h"
#include "format_reasons.gen.h"

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

// The first sentence of the text of a rule, as a part of a sentence: "no size of a tensor is negative".
std::string text_of(std::string_view rule) {
  const FormatRule* found = find_format_rule(rule);
  std::string text(found ? format_texts[found - format_rules] : "");
  text = text.substr(0, std::min(text.find(". "), text.rfind('.')));
  const bool is_word = text.size() > 1 && (text[1] == ' ' || (text[1] >= 'a' && text[1] <= 'z'));
  if (is_word && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] + ('a' - 'A'));
  return text;
}

// What the file changes: "Tensor.sizes:length is huge", "Tensor.sizes:length is changed", "a number is zero". Empty for
// a case of a rule.
std::vector<std::string> changes_of(const verdict::Record& r) {
  const std::string& change = input(r, "change");
  const std::size_t at = change.find('=');
  if (at == std::string::npos) return {};
  const std::string place = change.substr(0, at), to = change.substr(at + 1);
  return {concat(place, " is ", to), concat(place, " is changed"), concat("the changed value is ", to)};
}

constexpr std::string_view loop = "a jump back";

// Whether a file whose tables can be read has an instruction that jumps back, or to itself.
bool has_loop(const corrupt::Attempt& attempt) {
  const auto is_read = [](const Fault& f) {
    const FormatRule* rule = find_format_rule(f.rule);
    return rule && rule->checked == FormatRule::Checked::validate;
  };
  const Bytes& file = attempt.files.file;
  if (format::file_kind(file) != &format::program_kind || !std::ranges::all_of(attempt.expectation.faults, is_read))
    return false;
  const auto jumps_back = [](const pte::Chain& chain) {
    for (std::uint32_t i = 0; i < format::size_of(chain.instructions()); ++i)
      if (const auto* jump = chain.instructions()->Get(i)->instr_args_as_JumpFalseCall())
        if (jump->destination_instruction() <= static_cast<std::int64_t>(i)) return true;
    return false;
  };
  const auto* plans = flatbuffers::GetRoot<pte::Program>(file.data())->execution_plan();
  for (std::uint32_t p = 0; p < format::size_of(plans); ++p)
    for (std::uint32_t c = 0; c < format::size_of(plans->Get(p)->chains()); ++c)
      if (jumps_back(*plans->Get(p)->chains()->Get(c))) return true;
  return false;
}

// A check of a rule that is missing fails at many places of a file; a crash at many places has one reason, which damage
// of the heap moves to any of them.
verdict::StatedCause cause(const verdict::Record& r) {
  std::vector<std::string> changes = changes_of(r);
  const std::string text = text_of(r.rule);
  const std::string rule = text.empty() ? r.rule : concat(r.rule, " (", text, ')');
  if (r.failure == verdict::Class::accepted_though_invalid)
    return {r.failure, "accept files that break " + rule, {""}, std::move(changes)};
  if (r.failure == verdict::Class::refused_though_valid)
    return {r.failure, "refuse files that break no rule", {""}, std::move(changes)};
  const bool hangs = r.verdict == verdict::Verdict::timeout;
  if (hangs && std::ranges::find(r.inputs, "has", &verdict::NamedText::name) != r.inputs.end())
    changes.push_back(concat("each file has ", loop));
  const std::string file = r.rule.empty() ? "with a file that breaks no rule" : "with a file that breaks " + rule;
  return {r.failure, "", {file, "with files that break many rules"}, changes};
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
  if (has_loop(attempt)) r.inputs.push_back({"has", std::string(loop)});
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
