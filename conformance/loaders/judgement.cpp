#include "conformance/loaders/judgement.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/testees/wire/address.h"

namespace assay {
namespace {

using corrupt::Expected;

LoaderTier tier_of(const Fate& fate, Expected expected, bool control) {
  switch (fate.end) {
    case Fate::End::crashed:
      return row(fate.failure).deed == Deed::damage ? LoaderTier::damage : LoaderTier::aborted;
    case Fate::End::hung:
      return LoaderTier::hung;
    case Fate::End::accepted:
      return expected == Expected::refused ? LoaderTier::accepted : LoaderTier::none;
    default:
      if (!control) return LoaderTier::untested;
      return expected == Expected::accepted && fate.end == Fate::End::refused ? LoaderTier::refused : LoaderTier::none;
  }
}

// Of "Tensor.sizes:length=huge" what is before the change.
std::string without_change(const std::string& subject) { return subject.substr(0, subject.find('=')); }

std::string how_to_remake(const LoaderLine& line) {
  std::vector<std::string> words{"assay", "corrupt"};
  if (!line.program.empty()) words.push_back(line.program);
  words.insert(words.end(), {"--name", line.name, "-o", "FILE"});
  return wire::quoted(words);
}

std::string_view what_it_does(LoaderTier tier) {
  switch (tier) {
    case LoaderTier::damage:
    case LoaderTier::aborted:
      return "crashes on";
    case LoaderTier::hung:
      return "hangs on";
    case LoaderTier::accepted:
      return "accepts";
    default:
      return "refuses";
  }
}

std::string first_line(const std::string& words) { return words.substr(0, words.find('\n')); }

std::string rule_words(const std::string& id) {
  const FormatRule* rule = find_format_rule(id);
  return rule ? fmt::format("what breaks {}", id) : "what breaks no rule";
}

}  // namespace

std::string_view word(LoaderTier tier) {
  constexpr std::string_view words[] = {"damage", "aborted", "hung", "accepted", "refused", "untested", "ok"};
  return words[static_cast<std::size_t>(tier)];
}

LoaderLine judged(const std::string& program, const corrupt::Attempt& attempt, Fate fate, bool control) {
  const corrupt::Expectation& e = attempt.expectation;
  LoaderLine line{program,         attempt.name,    attempt.subject, e.expected, {}, attempt.files.file.size(),
                  std::move(fate), LoaderTier::none};
  for (const Fault& f : e.faults) line.rules.push_back(f.rule);
  line.tier = tier_of(line.fate, e.expected, control);
  return line;
}

void LoaderReport::add(const LoaderLine& line) {
  ++files_, ++tiers_[static_cast<std::size_t>(line.tier)];
  Counts& counts = rules_[line.rule()];
  ++(line.tier == LoaderTier::untested ? counts.untested : counts.ends[static_cast<std::size_t>(line.fate.end)]);
  if (line.tier >= LoaderTier::untested) return;
  LoaderDefect& defect = defects_[{line.tier, line.fate.failure, line.rule(), without_change(line.subject)}];
  if (defect.files++ == 0 || line.size < defect.smallest.size) defect.smallest = line;
}

std::string text_of(const LoaderReport& report) {
  std::string all;
  for (const auto& [key, defect] : report.defects())
    all += fmt::format("{:8} {:20} {:4} {:5} files: {} {} at {}: {}  ({})\n", word(key.tier), name(key.failure),
                       key.rule, defect.files, what_it_does(key.tier), rule_words(key.rule), key.subject,
                       first_line(defect.smallest.fate.words), how_to_remake(defect.smallest));
  all += fmt::format("\n{:5} {:>8} {:>8} {:>9} {:>7} {:>5} {:>8}\n", "rule", "refused", "accepted", "exhausted",
                     "crashed", "hung", "untested");
  for (const auto& [rule, c] : report.rules())
    all += fmt::format("{:5} {:>8} {:>8} {:>9} {:>7} {:>5} {:>8}\n", rule.empty() ? "none" : rule, c.ends[1], c.ends[0],
                       c.ends[2], c.ends[3], c.ends[4], c.untested);
  all += fmt::format("\n{} files:", report.files());
  for (int t = 0; t <= static_cast<int>(LoaderTier::none); ++t)
    all += fmt::format("{} {} {}", t == 0 ? "" : ",", report.count(static_cast<LoaderTier>(t)),
                       word(static_cast<LoaderTier>(t)));
  return all + '\n';
}

std::string markdown_of(const LoaderReport& report) {
  std::string all =
      "| rule | refused | accepted | exhausted | crashed | hung | untested |\n|---|--:|--:|--:|--:|--:|--:|\n";
  for (const auto& [rule, c] : report.rules())
    all += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", rule.empty() ? "none" : rule, c.ends[1], c.ends[0],
                       c.ends[2], c.ends[3], c.ends[4], c.untested);
  return all;
}

}  // namespace assay
