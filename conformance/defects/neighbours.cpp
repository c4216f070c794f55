#include "conformance/defects/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "conformance/cases/host_call.h"
#include "conformance/cases/special_numbers.h"
#include "conformance/defects/draw.h"
#include "conformance/defects/hypothesis.h"
#include "conformance/defects/symptom.h"
#include "conformance/sandbox/probe.h"
#include "conformance/text/digest.h"
#include "conformance/text/printable.h"

namespace assay::defects {
namespace {

constexpr std::size_t most_of_one = 12;   // neighbours that differ in one argument
constexpr std::size_t most_told = 3;      // sentences
constexpr std::size_t longest = 60;       // characters of an argument that a sentence shows
constexpr std::size_t most_quoted = 120;  // bytes of a message of the testee
constexpr std::size_t most_plain = 6;     // neighbours with plain numbers in place of special ones

// A neighbour with the only argument in which it differs.
struct Neighbour {
  verdict::Record record;
  std::string was, is;  // the argument's text in the failing call and in the neighbour
};

bool has_elements(const cases::HostCall& call) {
  return std::ranges::any_of(call.expected.outs, [](const Tensor& t) { return t.count() > 0; });
}

// The sizes with which outs must come so that the call fails; empty if they do not matter.
std::string outs_of(const verdict::Record& failing) {
  const std::string circumstance = circumstance_of(failing);
  return circumstance == sandbox::larger_outs || circumstance == sandbox::smaller_outs ? circumstance : "";
}

// The id of the call with one more mutation; none if the call is too large, if it passes because nothing is left of the
// results, or if its outs come with other sizes than `outs` says.
std::optional<std::string> mutated(const cases::Corpus& corpus, const cases::Case& failing, std::string_view outs,
                                   const cases::Mutation& mutation) {
  cases::CaseId id = failing.id;
  id.mutations.push_back(mutation);
  if (!outs.empty() && sandbox::sizes_of_outs(text::digest(cases::to_text(id))) != outs) return std::nullopt;
  const cases::HostCall call = cases::host_call(corpus.make(id), small_call);
  if (call.expected.answer.outcome == Outcome::exhausted) return std::nullopt;
  if (call.valid() && !has_elements(call) && has_elements(cases::host_call(failing, small_call))) return std::nullopt;
  return cases::to_text(id);
}

// Whether a tensor has the same numbers after a mutation of its dtype. True for every other mutation.
bool keeps_numbers(const cases::Case& c, const cases::Mutation& m, std::size_t argument) {
  const Tensor* before = std::get_if<Tensor>(&c.arguments[argument]);
  if (!before || m.kind != cases::Mutation::Kind::dtype || info(before->dtype).kind >= Kind::complex) return true;
  const std::vector<Value> changed = cases::mutated(*c.op, c.arguments, m);
  const Tensor& after = std::get<Tensor>(changed[argument]);
  if (info(after.dtype).kind >= Kind::complex) return true;
  const auto is_same = [](Real a, Real b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return std::ranges::equal(read<Real>(*before).data, read<Real>(after).data, is_same);
}

// The ids of calls with another value of one argument. They are evenly chosen from all small changes of it. A change of
// a dtype that also changes numbers would leave open which of the two matters.
std::vector<std::string> changed(const cases::Corpus& corpus, const cases::Case& failing, std::string_view outs,
                                 std::size_t argument) {
  std::vector<cases::Mutation> all = cases::changes_of(*failing.op, failing.arguments, argument);
  std::erase_if(all, [&](const cases::Mutation& m) { return !keeps_numbers(failing, m, argument); });
  std::vector<std::string> ids;
  for (const cases::Mutation& m : evenly_chosen(all, most_of_one))
    if (auto id = mutated(corpus, failing, outs, m)) ids.push_back(std::move(*id));
  return ids;
}

// The neighbours among the records whose inputs differ from the failing call's in the one named argument.
std::vector<Neighbour> differing_in(std::string_view argument, const verdict::Record& failing,
                                    std::vector<verdict::Record> records) {
  std::vector<Neighbour> found;
  std::set<std::string> texts;
  for (verdict::Record& r : records) {
    std::optional<Neighbour> one;
    bool differs_elsewhere = r.inputs.size() != failing.inputs.size();
    for (std::size_t i = 0; !differs_elsewhere && i < r.inputs.size(); ++i) {
      const auto& [name, is] = r.inputs[i];
      const std::string& was = failing.inputs[i].text;
      if (is == was) continue;
      differs_elsewhere = name != argument;
      one = Neighbour{{}, was, is};
    }
    if (!one || differs_elsewhere || !texts.insert(one->is).second) continue;
    one->record = std::move(r);
    found.push_back(std::move(*one));
  }
  return found;
}

// The number that a text states; true is 1. None if the text is no finite number.
std::optional<double> number(std::string_view text) {
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  double n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(n) ? std::optional(n) : std::nullopt;
}

// How much a neighbour differs: by its number, else by the length of its text.
double difference(const Neighbour& n) {
  const auto was = number(n.was), is = number(n.is);
  return was && is ? std::fabs(*was - *is) : static_cast<double>(n.is.size());
}

// Whether a neighbour shows nothing: with 0 many results are 0, and a number far away changes everything.
bool is_trivial(const Neighbour& n) {
  const auto was = number(n.was), is = number(n.is);
  const bool is_bool = n.is == "true" || n.is == "false";
  return was && is && !is_bool && (*is == 0 || std::fabs(*is) > std::max(4.0, 2 * std::fabs(*was)));
}

// A small integer or a half, in which a reader sees nothing special.
bool is_plain(const Neighbour& n) {
  const auto is = number(n.is);
  return !is || (std::fabs(*is) <= 4 && 2 * *is == std::trunc(2 * *is));
}

// The neighbour that is shown: a plain one if there is any, that differs little and whose text is short.
std::optional<Neighbour> shown(std::vector<Neighbour> some) {
  std::erase_if(some, [](const Neighbour& n) { return n.is.size() > longest; });
  const auto at =
      std::ranges::min_element(some, {}, [](const Neighbour& n) { return std::pair(!is_plain(n), difference(n)); });
  return at == some.end() ? std::nullopt : std::optional(*at);
}

// What the neighbours of a valid call tell about an argument; empty if none passes but trivial ones. With a number that
// is not finite, a wrong result is right by chance.
std::string of_valid(std::string_view argument, std::vector<Neighbour> some) {
  std::erase_if(some, [](const Neighbour& n) {
    const bool hides = n.is == "nan" || n.is == "inf" || n.is == "-inf";
    return !n.record.valid || n.record.verdict != verdict::Verdict::pass || n.was.size() > longest || hides ||
           is_trivial(n);
  });
  const auto passing = shown(std::move(some));
  return passing ? fmt::format("The call passes if {} is {} instead of {}", argument, passing->is, passing->was) : "";
}

// The words "invalid, <rule>: " of an expected answer.
std::string_view broken_rule(const verdict::Record& r) {
  return std::string_view(r.expected).substr(0, r.expected.find(": "));
}

// Whether a text names an argument, followed by some words.
bool names(std::string_view text, std::string_view argument, std::string_view followed_by = "") {
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(argument); at != text.npos; at = text.find(argument, at + 1)) {
    const std::size_t end = at + argument.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end])) &&
        text.substr(end).starts_with(followed_by))
      return true;
  }
  return false;
}

// The words with which the testee refuses a call; empty if it gives none.
std::string_view refusal(const verdict::Record& r) {
  const std::string_view said = std::string_view(r.got).substr(0, r.got.find('\n'));
  const std::size_t end = said.find(": ");
  return end == said.npos ? "" : said.substr(end + 2);
}

// Whether a refusal has to do with the argument: the testee says nothing, or states something of the argument by name.
bool is_told_of(std::string_view said, std::string_view argument) {
  constexpr auto verbs = std::to_array<std::string_view>({" is ", " has ", " must ", " should ", " = ", "["});
  const auto states = [&](std::string_view verb) { return names(said, argument, verb); };
  return said.empty() || std::ranges::any_of(verbs, states);
}

// What the neighbours of an invalid call tell about an argument; empty if none of them breaks the same rule. Calls that
// the testee refuses for another reason tell nothing.
std::string of_invalid(std::string_view argument, const verdict::Record& failing, std::vector<Neighbour> some) {
  std::erase_if(some, [&](const Neighbour& n) {
    return n.record.valid || broken_rule(n.record) != broken_rule(failing) ||
           (n.record.verdict == verdict::Verdict::pass && !is_told_of(refusal(n.record), argument));
  });
  if (some.empty()) return "";
  const std::size_t all = some.size();
  std::vector<Neighbour> refused = some;
  std::erase_if(refused, [](const Neighbour& n) { return n.record.verdict != verdict::Verdict::pass; });
  const std::size_t number = refused.size();
  const auto example = shown(number > 0 ? std::move(refused) : std::move(some));
  const std::string such_as = example ? concat(", such as ", example->is) : "";
  const std::string_view said = example && number > 0 ? refusal(example->record) : "";
  return fmt::format("The testee refuses {} of {} other value{} of {} that break{} the rule{}{}{}{}",
                     number > 0 ? std::to_string(number) : "none", all, all == 1 ? "" : "s", argument,
                     all == 1 ? "s" : "", such_as, said.empty() ? "" : ", saying ",
                     said.empty() ? "" : text::in_quotes(said.substr(0, most_quoted)),
                     said.size() > most_quoted ? "..." : "");
}

// Tells the special numbers of a tensor without which the call passes, if the other numbers stay as they are. Of
// several, the fewest numbers are told. Empty if there are none.
std::string without_special(runner::Trials& trials, sandbox::TimeLimit time_limit, const cases::Corpus& corpus,
                            const cases::Case& failing, std::string_view outs, std::size_t argument) {
  std::vector<std::string> ids;
  std::vector<const cases::SpecialNumbers*> replaced;
  for (const cases::Mutation& m : cases::plain_numbers_of(*failing.op, failing.arguments, argument))
    if (auto id = ids.size() < most_plain ? mutated(corpus, failing, outs, m) : std::nullopt)
      ids.push_back(std::move(*id)), replaced.push_back(&cases::special_numbers[static_cast<std::size_t>(m.n[1])]);
  std::string told;
  std::size_t judged = 0;
  trials.run_while(ids, time_limit, [&](const runner::Judged& j) {
    const cases::SpecialNumbers& special = *replaced[judged++];
    if (j.record.valid && j.record.verdict == verdict::Verdict::pass)
      told = fmt::format("The call passes with {} in place of {} in {}", special.instead, special.name,
                         failing.op->arguments[argument].name);
    return told.empty();
  });
  return told;
}

}  // namespace

std::vector<std::string> neighbours_of(runner::CaseRunner& case_runner, const cases::Corpus& corpus,
                                       const verdict::Record& failing) {
  std::vector<std::string> told;
  if (failing.verdict == verdict::Verdict::timeout) return told;
  const cases::Case c = corpus.make(cases::case_id_from(failing.case_id));
  runner::Trials trials(case_runner.children(), runner::Detail::all);
  const sandbox::TimeLimit time_limit = hurried(case_runner.time_limit());
  const std::string outs = outs_of(failing);
  for (std::size_t i = 0; i + c.op->outs() < c.arguments.size() && told.size() < most_told; ++i) {
    const std::string_view argument = c.op->arguments[i].name;
    if (!failing.valid && !names(demand(failing), argument)) continue;
    if (failing.valid)
      if (std::string sentence = without_special(trials, time_limit, corpus, c, outs, i); !sentence.empty()) {
        told.push_back(std::move(sentence));
        continue;
      }
    std::vector<verdict::Record> records;
    const std::vector<std::string> ids = changed(corpus, c, outs, i);
    trials.run_while(ids, time_limit, [&](runner::Judged j) { return records.push_back(std::move(j.record)), true; });
    std::vector<Neighbour> some = differing_in(argument, failing, std::move(records));
    std::string sentence =
        failing.valid ? of_valid(argument, std::move(some)) : of_invalid(argument, failing, std::move(some));
    if (!sentence.empty()) told.push_back(std::move(sentence));
  }
  return told;
}

}  // namespace assay::defects
