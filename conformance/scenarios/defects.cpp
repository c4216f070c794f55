#include "conformance/scenarios/defects.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/cases/fingerprint.h"
#include "conformance/scenarios/scenario.h"

namespace assay {
namespace {

constexpr std::size_t most_words = 160;

bool is_answered(const Record& r) {
  const Deed deed = row(r.failure).deed;
  return r.verdict == Verdict::fail && deed != Deed::refusal;
}

// What the runtime said: behind the step, or its last line before it died, unless it is a step.
std::string words_of(const Record& r) {
  if (r.verdict == Verdict::crash && r.inputs.empty()) {
    const std::string last = r.message.substr(r.message.find_last_of('\n', r.message.find_last_not_of('\n')) + 1);
    return last.find(": ") == last.find_first_not_of("0123456789") ? r.message : last;
  }
  const std::string step = r.inputs.empty() ? "" : r.inputs.back().text + ": ";
  constexpr std::string_view refused = "is refused (";
  std::string words = r.message.substr(r.message.starts_with(step) ? step.size() : 0);
  if (words.starts_with(refused)) words.erase(0, words.find(": ") + 2);
  return words;
}

// Its first line, without what tells one call from another.
std::string gist(std::string words) {
  words = words.substr(0, std::min(words.find('\n'), most_words));
  std::string all;
  for (const char c : words) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit || !all.ends_with('N')) all += is_digit ? 'N' : c;
  }
  return all;
}

// What is wrong in the case: "with kv_cache", "(too-large)".
std::string way(const Record& r) {
  if (!is_answered(r)) return r.verdict == Verdict::timeout ? "" : text("saying \"", gist(words_of(r)), '"');
  if (r.failure != Class::accepted_though_invalid) return text("with ", subject_of(r.case_id));
  const std::size_t colon = r.case_id.rfind(':');
  return colon == std::string::npos ? "" : text('(', gist(r.case_id.substr(colon + 1)), ')');
}

}  // namespace

void ScenarioDefects::add(const Record& r) {
  if (!is_failure(r.verdict)) return;
  const std::string words = way(r);
  Defect& d = defects_[{r.verdict, r.failure, words}];
  if (d.cases == 0)
    d.testee = r.testee, d.verdict = r.verdict, d.failure = r.failure, d.when = words, d.smallest = r,
    d.tier = tier_of(r),
    d.id = fmt::format("{:08x}", static_cast<std::uint32_t>(digest(text(name(d.verdict), name(d.failure), words)))),
    d.explained = true;
  ++d.cases;
  d.promised_cases += r.promised;
  d.tier = std::min(d.tier, tier_of(r));
  d.case_ids.push_back(r.case_id);
  d.distance = std::max(d.distance, r.distance);
  if (std::ranges::find(d.operators, r.operator_name) == d.operators.end()) d.operators.push_back(r.operator_name);
  if (tier_of(r) < tier_of(d.smallest)) d.smallest = r;
}

std::vector<Defect> ScenarioDefects::found() const {
  std::vector<Defect> all;
  for (const auto& [key, defect] : defects_) {
    all.push_back(defect);
    Defect& d = all.back();
    std::ranges::sort(d.operators);
    d.sentence = sentence(d, "kinds of cases");
  }
  std::ranges::sort(all, is_more_serious);
  return all;
}

}  // namespace assay
