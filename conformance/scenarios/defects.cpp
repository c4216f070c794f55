#include "conformance/scenarios/defects.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "conformance/sandbox/death.h"
#include "conformance/scenarios/play.h"
#include "conformance/scenarios/scenario.h"
#include "conformance/scenarios/traits.h"
#include "conformance/verdict/stated_defects.h"

namespace assay::scenarios {
namespace {

constexpr std::size_t most_words = 160;

constexpr std::string_view where(ScenarioKind kind) { return scenario_kinds[static_cast<std::size_t>(kind)].where; }

// -- facts of a record ---------------------------------------------------------------------------------------------

ScenarioKind kind_of(const verdict::Record& r) {
  const std::string_view word = std::string_view(r.case_id).substr(0, r.case_id.find('/'));
  return std::ranges::find(scenario_kinds, word, &ScenarioKindRow::name)->kind;
}

bool is_answered(const verdict::Record& r) {
  return r.verdict == verdict::Verdict::fail && verdict::row(r.failure).effect != verdict::Effect::refusal;
}

std::string behind(std::string_view words, std::string_view mark) {
  const std::size_t at = words.find(mark);
  return std::string(at == std::string_view::npos ? words : words.substr(at + mark.size()));
}

std::string line_behind(std::string_view words, std::string_view mark) {
  const std::string rest = behind(words, mark);
  return rest.substr(0, rest.find('\n'));
}

std::string_view last_line(std::string_view message) {
  while (message.ends_with('\n')) message.remove_suffix(1);
  return message.substr(message.find_last_of('\n') + 1);
}

// Whether the host wrote this line before it ran a step: "1: call forward(...)".
bool is_step(std::string_view line) {
  const std::size_t digits = line.find_first_not_of("0123456789");
  return digits > 0 && digits != std::string_view::npos && line.substr(digits).starts_with(": ");
}

// The first word of the last step that began: "load".
std::string phase(const verdict::Record& r) {
  std::string_view line = last_line(r.message);
  if (!is_step(line)) return "";
  line.remove_prefix(line.find(": ") + 2);
  return std::string(line.substr(0, line.find(' ')));
}

// The runtime's message: the text behind the step, or the last line before the process died, unless that line is a
// step.
std::string words_of(const verdict::Record& r) {
  if (r.verdict == verdict::Verdict::crash && r.inputs.empty())
    return std::string(is_step(last_line(r.message)) ? std::string_view(r.message) : last_line(r.message));
  const std::string step = r.inputs.empty() ? "" : r.inputs.back().text + ": ";
  const std::string words = r.message.substr(r.message.starts_with(step) ? step.size() : 0);
  return words.starts_with("is refused (") ? behind(words, ": ") : words;
}

// The first line of a message with its numbers replaced, so that messages of different calls are equal.
std::string gist(std::string words) {
  words = words.substr(0, std::min(words.find('\n'), most_words));
  std::string all;
  for (const char c : words) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit || !all.ends_with('N')) all += is_digit ? 'N' : c;
  }
  return all;
}

// The process ended without a message.
bool is_silent(const verdict::Record& r) {
  return r.verdict == verdict::Verdict::timeout ||
         (r.verdict == verdict::Verdict::crash && words_of(r).starts_with("crashed with"));
}

// The request of the wire protocol that the runtime never answered; empty if it is not known.
std::string unanswered_request(const verdict::Record& r) {
  if (r.verdict != verdict::Verdict::timeout || !r.message.starts_with(sandbox::waiting_for)) return "";
  const std::string request = r.message.substr(sandbox::waiting_for.size());
  return request.substr(0, request.find(':'));
}

// Whether the program's contents or calls explain the failure, rather than an earlier step or a changed input.
bool is_about_programs(const verdict::Record& r) {
  const bool is_conduct = r.failure == verdict::Class::spoils_state || r.failure == verdict::Class::changes_input;
  return !is_conduct && (is_answered(r) || is_silent(r));
}

// Whether the scenario has a call that is refused, for example because its sizes exceed their bound.
bool is_behind_refusal(const verdict::Record& r) { return std::ranges::find(r.slices, "invalid") != r.slices.end(); }

// -- its cause -----------------------------------------------------------------------------------------------------

// The circumstance among the program's own calls: the same step was done earlier, or its method was called with other
// inputs.
std::string among_calls(const verdict::Record& r) {
  if (r.inputs.empty()) return "";
  const std::string& failing = r.inputs.back().text;
  bool is_other = false;
  for (const verdict::NamedText& step : std::span(r.inputs).first(r.inputs.size() - 1)) {
    if (step.text == failing) return "in calls behind the first";
    is_other = is_other || step.text.starts_with(failing.substr(0, failing.find('(') + 1));
  }
  return is_other ? std::string(where(ScenarioKind::sizes)) : "";
}

std::string place(const verdict::Record& r) {
  switch (kind_of(r)) {
    case ScenarioKind::recorded:
      return among_calls(r);
    case ScenarioKind::sizes:
      return std::string(where(is_behind_refusal(r) ? ScenarioKind::inputs : ScenarioKind::sizes));
    case ScenarioKind::files:
      return r.rule.empty() ? concat("with ", r.operator_name) : concat("with a file that breaks ", r.rule);
    case ScenarioKind::requests:
      return concat("when it is asked for ", subject_of(r.case_id));
    default:
      return std::string(where(kind_of(r)));
  }
}

// What the wrong outputs of a case show; null if nothing.
const Sign* sign_of(const verdict::Record& r) {
  const auto found =
      std::ranges::find_if(signs, [&](const Sign* sign) { return words_of(r).starts_with(concat(sign->words, ": ")); });
  return found == std::end(signs) ? nullptr : *found;
}

// For each program, and separately for silent failures, the failure that comes first in the order of kinds.
class Places {
 public:
  explicit Places(const std::vector<verdict::Record>& failures) {
    for (const verdict::Record& r : failures) {
      const Sign* sign = sign_of(r);
      loses_state_ = loses_state_ || sign == &sign::lost_state;
      if (!is_about_programs(r)) continue;
      if (is_answered(r)) ++signs_[sign];
      const auto [at, is_new] = first_.emplace(key(r), &r);
      if (!is_new && kind_of(r) < kind_of(*at->second)) at->second = &r;
    }
  }
  std::string of(const verdict::Record& r) const { return place(*first_.at(key(r))); }
  // The sign of a wrong answer, or of nearly all wrong answers. A sign that few wrong answers show is a coincidence, as
  // is the repetition of results unless nearly all show it. Null if there is none.
  const Sign* sign(const verdict::Record& r) const {
    constexpr double few = 0.25, half = 0.5;
    double all = 0;
    for (const auto& [sign, count] : signs_) all += static_cast<double>(count);
    const auto has = [&](const Sign* sign, double share) {
      return sign && static_cast<double>(signs_.at(sign)) >= share * all;
    };
    const Sign* own = sign_of(r);
    if (has(own, own == &sign::former_results ? verdict::likely : few)) return own;
    for (const auto& [sign, count] : signs_)
      if (has(sign, kind_of(r) == ScenarioKind::set_again ? half : verdict::likely)) return sign;
    return nullptr;
  }
  bool loses_state() const { return loses_state_; }  // even if no other method is called

 private:
  static std::pair<std::string, bool> key(const verdict::Record& r) {
    return {std::string(subject_of(r.case_id)), is_silent(r)};
  }
  std::map<std::pair<std::string, bool>, const verdict::Record*> first_;
  std::map<const Sign*, std::size_t> signs_;  // of wrong answers, null for those without a sign
  bool loses_state_ = false;
};

// The index of the step that fails; none if the record does not tell.
std::optional<std::size_t> failing_step(const verdict::Record& r) {
  if (!r.inputs.empty()) return r.inputs.size() - 1;
  const std::string_view line = last_line(r.message);
  return is_step(line) ? std::optional<std::size_t>(std::stoul(std::string(line))) : std::nullopt;
}

// Whether the calls that fail in a case are compared with those that pass in others of these kinds.
bool is_compared(const verdict::Record& r) {
  return kind_of(r) == ScenarioKind::recorded || kind_of(r) == ScenarioKind::operators;
}

// For wrong answers, and separately for silent failures: the traits that nearly all failing calls have, and that few
// passing calls have.
class Separating {
 public:
  Separating(const ScenarioDefects::Find& find, const std::vector<verdict::Record>& failures,
             const std::vector<std::string>& passing) {
    constexpr std::size_t most = 4096;  // steps of cases that fail and of cases that pass
    for (const verdict::Record& r : failures)
      if (const auto step = failing_step(r); step && is_about_programs(r)) {
        if (steps_.size() < most) steps_.emplace(r.case_id, traits_of(find(r.case_id)));
        const auto at = steps_.find(r.case_id);
        if (at == steps_.end() || *step >= at->second.size()) continue;
        if (!is_compared(r)) continue;
        for (std::size_t k = 0; k < *step; ++k) count(right_, at->second[k]);
        ++failing_[is_silent(r)], count(wrong_[is_silent(r)], at->second[*step]);
      }
    if (steps_.empty()) return;
    for (const std::string& id : passing)
      for (const Traits t : traits_of(find(id))) ++passing_, count(right_, t);
  }

  // The trait that tells why a case fails; empty if none does.
  std::string_view of(const verdict::Record& r) const {
    const auto step = failing_step(r);
    const auto at = steps_.find(r.case_id);
    if (!step || at == steps_.end() || *step >= at->second.size()) return "";
    for (std::size_t k = 0; k < traits.size(); ++k)
      if ((at->second[*step] >> k & 1) && separates(is_silent(r), k)) return traits[k].where;
    return "";
  }

 private:
  using Counts = std::array<std::size_t, traits.size()>;
  static void count(Counts& counts, Traits t) {
    for (std::size_t k = 0; k < traits.size(); ++k) counts[k] += t >> k & 1;
  }
  bool separates(bool silent, std::size_t k) const {
    const auto wrong = static_cast<double>(wrong_[silent][k]), right = static_cast<double>(right_[k]);
    return wrong >= 2 && wrong >= verdict::convincing * static_cast<double>(failing_[silent]) && wrong >= right &&
           passing_ > right_[k];
  }

  std::map<std::string, std::vector<Traits>> steps_;  // by the ids of failing cases
  std::array<std::size_t, 2> failing_{};              // failing calls: with wrong answers, silent
  std::array<Counts, 2> wrong_{};                     // of those, the calls with a trait
  std::size_t passing_ = 0;                           // steps that pass
  Counts right_{};
};

// The rules of frames, which any request can show to be broken. The other rules are about what one request does.
constexpr auto rules_of_frames = std::to_array<std::string_view>(
    {"protocol.mark", "protocol.version", "protocol.length", "protocol.checksum", "protocol.reply", "protocol.body"});

// The rule of frames that the testee broke; empty if it broke none.
std::string_view broken_rule_of_frames(const verdict::Record& r) {
  const auto breaks = [&](std::string_view rule) {
    return r.message.find(concat("breaks the rule ", rule, ":")) != std::string::npos;
  };
  const auto at = std::ranges::find_if(rules_of_frames, breaks);
  return at == rules_of_frames.end() ? "" : *at;
}

// "int32 in place of int64", of a result of a wrong dtype; empty if the message does not name both.
std::vector<std::string> dtypes_in(const verdict::Record& r) {
  if (r.failure != verdict::Class::dtype) return {};
  const auto word = [&](std::string_view mark) {
    const std::string rest = line_behind(r.message, mark);
    return rest.size() == r.message.size() ? "" : rest.substr(0, rest.find_first_of(" ,["));
  };
  const bool is_of_output = r.message.find(": got ") != std::string::npos;
  const std::string got = word(is_of_output ? ": got " : " is "), want = word(is_of_output ? ", want " : "must be ");
  return {concat(got, " in place of ", want)};
}

verdict::StatedCause cause(const verdict::Record& r, const Places& places, const Separating& separating) {
  if (const std::string_view rule = broken_rule_of_frames(r); !rule.empty())
    return {.failure = verdict::Class::exit,
            .does = concat("break the rule ", rule, " of the wire protocol"),
            .facts = {line_behind(r.message, concat("breaks the rule ", rule, ": "))},
            .verdict = verdict::Verdict::crash};
  if (r.failure == verdict::Class::accepted_though_invalid)
    return {r.failure, "", {"with " + behind(words_of(r), "is answered despite ")}};
  const std::string trait(is_about_programs(r) ? separating.of(r) : "");
  const Sign* sign = is_answered(r) ? places.sign(r) : nullptr;
  // A call may repeat the results of the call before because both ignore the trait.
  if (sign && !(sign == &sign::former_results && !trait.empty())) {
    const bool is_always_lost = sign == &sign::lost_beside && places.loses_state();
    return {verdict::Class::value, std::string((is_always_lost ? &sign::lost_state : sign)->does)};
  }
  constexpr std::string_view again = where(ScenarioKind::reload);
  if (r.failure == verdict::Class::spoils_state)
    return {r.failure, "", {kind_of(r) == ScenarioKind::files ? place(r) : std::string(again)}};
  if (r.failure == verdict::Class::changes_input) return {r.failure};
  if (!is_about_programs(r)) return {r.failure, "", {concat("saying \"", gist(words_of(r)), '"')}};
  const std::string place = trait.empty() ? places.of(r) : trait;
  if (is_answered(r)) {
    const verdict::Class failure = r.failure == verdict::Class::nan ? verdict::Class::value : r.failure;
    if (place == again) return {verdict::Class::spoils_state, "", {place}};
    if (!place.empty()) return {failure, "", {place}};
    return {failure, "", {concat("with ", subject_of(r.case_id)), "with many programs"}, dtypes_in(r)};
  }
  if (const std::string request = unanswered_request(r); !request.empty())
    return {r.failure, "do not answer " + request, {place, "in many programs and steps"}};
  const std::string phase = scenarios::phase(r), step = phase.empty() ? "" : concat("in a step \"", phase, '"');
  return {r.failure, "", {concat(step, step.empty() || place.empty() ? "" : ", ", place), step}};
}

}  // namespace

void ScenarioDefects::add(const verdict::Record& r) {
  if (verdict::is_failure(r.verdict)) failures_.push_back(r);
  if (is_compared(r) && verdict::is_right(r.verdict)) passing_.push_back(r.case_id);
}

std::vector<verdict::Defect> ScenarioDefects::found() const {
  const Places places(failures_);
  const Separating separating(find_, failures_, passing_);
  verdict::StatedDefects defects("the runtime", [](const verdict::Record& a, const verdict::Record& b) {
    const auto key = [](const verdict::Record& r) {  // a case that spoils others passes alone
      return std::tuple(r.failure == verdict::Class::spoils_state, verdict::tier_of(r), r.inputs.size());
    };
    return key(a) < key(b);
  });
  for (const verdict::Record& r : failures_) defects.add(r, cause(r, places, separating));
  return defects.found();
}

}  // namespace assay::scenarios
