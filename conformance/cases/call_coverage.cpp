#include "conformance/cases/call_coverage.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "conformance/cases/tensors.h"
#include "conformance/text/literal.h"

namespace assay {
namespace {

constexpr Int most_shown_elements = 64;  // the most elements of a tensor that is shown whole

// The call that is shorter to read. A result of one element shows less than a result of a few elements, and many
// dimensions show little.
struct Shortest {
  bool awkward = false;
  std::size_t length = 0;
  std::size_t at = 0;
  auto operator<=>(const Shortest&) const = default;
};

void keep(std::optional<Shortest>& least, const Shortest& other) {
  if (!least || other < *least) least = other;
}

class Survey {
 public:
  explicit Survey(const RecordedCalls& calls) : calls_(calls) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const RecordedCall call = calls.at(i);
      ++all_.calls;
      call.refused ? add_refused(call, i) : add_answered(call, i);
    }
  }

  CallCoverage finish(std::size_t kinds) && {
    add_answered_examples(kinds);
    for (const Rule& rule : calls_.op().rules) add_refused_example(rule.id);
    while (!refused_.empty()) add_refused_example(refused_.begin()->first);  // what no entry needs to say
    return std::move(all_);
  }

 private:
  struct Kind {
    Int calls = 0;
    std::optional<Shortest> shortest;
  };

  // Its length as text, and whether all of it can be shown.
  std::optional<Shortest> measured(const RecordedCall& call, std::size_t i) const {
    const Operator& op = calls_.op();
    Shortest s{false, 0, i};
    bool whole = true;
    const auto measure = [&](const Value& value, std::string_view type) {
      each_tensor(value, [&](const Tensor& t) { whole = whole && t.count() <= most_shown_elements; });
      if (whole) s.length += literal(value, type).size();
    };
    for (std::size_t k = 0; k < op.arguments.size(); ++k)
      if (!op.arguments[k].out) measure(call.arguments[k], op.arguments[k].type);
    for (const Tensor& t : call.results) measure(t, "Tensor");
    s.awkward = std::ranges::all_of(call.results, [](const Tensor& t) { return t.count() < 2 || t.rank() > 4; });
    return whole ? std::optional(s) : std::nullopt;
  }

  void add_answered(const RecordedCall& call, std::size_t i) {
    std::string dtypes;
    const auto note = [&](const Tensor& t) {
      all_.dtypes.emplace(info(t.dtype).name);
      all_.layouts.insert(layout_name(t));
      dtypes += text(t.dtype, " ");
    };
    each_tensor(call.arguments, [&](const Tensor& t, std::size_t) { note(t); });
    for (const Tensor& t : call.results) all_.largest_result = std::max(all_.largest_result, t.count());
    Kind& kind = answered_[dtypes];
    ++kind.calls;
    const bool is_special = may_be_shorter(call, special_) && has_special_values(call);
    if (!is_special && !may_be_shorter(call, kind.shortest)) return;
    if (const auto s = measured(call, i)) {
      keep(kind.shortest, *s);
      if (is_special) keep(special_, *s);
    }
  }

  // An element takes two characters at least, so that most calls need not be written to be compared.
  bool may_be_shorter(const RecordedCall& call, const std::optional<Shortest>& least) const {
    const std::size_t inputs = calls_.op().arguments.size() - calls_.op().outs();
    Int elements = 0;
    each_tensor(std::span(call.arguments).first(inputs), [&](const Tensor& t, std::size_t) { elements += t.count(); });
    for (const Tensor& t : call.results) elements += t.count();
    return !least || least->awkward || 2 * static_cast<std::size_t>(elements) < least->length;
  }

  void add_refused(const RecordedCall& call, std::size_t i) {
    ++all_.refused;
    const Answer answer = asked(call);
    if (answer.rule.empty()) return;
    ++all_.rules[answer.rule];
    if (const auto s = measured(call, i)) {
      const auto [least, is_first] = refused_.try_emplace(answer.rule, *s);
      if (!is_first) least->second = std::min(least->second, *s);
    }
  }

  Answer asked(RecordedCall call) const {
    return assay::call(calls_.op(), call.arguments, Budget({.bytes = Int{1} << 26, .work = Int{1} << 29}));
  }

  static bool has_special_values(const RecordedCall& call) {
    bool found = false;
    each_tensor(call.arguments, [&](const Tensor& t, std::size_t) {
      const std::string shown = t.count() <= most_shown_elements && is_floating(t.dtype) ? literal(t) : "";
      found = found || shown.find("nan") != std::string::npos || shown.find("inf") != std::string::npos;
    });
    return found;
  }

  void add_answered_examples(std::size_t kinds) {
    std::vector<Kind> shown;
    for (const auto& [dtypes, kind] : answered_)
      if (kind.shortest) shown.push_back(kind);
    std::ranges::sort(shown, [](const Kind& a, const Kind& b) {
      return std::tuple(a.shortest->awkward, -a.calls) < std::tuple(b.shortest->awkward, -b.calls);
    });
    shown.resize(std::min(shown.size(), kinds));
    for (const Kind& kind : shown) add_example(kind.shortest->at);
    if (special_ && std::ranges::none_of(shown, [&](const Kind& k) { return k.shortest->at == special_->at; }))
      add_example(special_->at);
  }

  void add_refused_example(std::string_view rule) {
    const auto found = refused_.find(rule);
    if (found == refused_.end()) return;
    add_example(found->second.at);
    refused_.erase(found);
  }

  void add_example(std::size_t i) {
    CallExample example{calls_.digest(i), calls_.at(i), {}};
    if (example.call.refused) example.answer = asked(example.call);
    all_.examples.push_back(std::move(example));
  }

  const RecordedCalls& calls_;
  CallCoverage all_;
  std::map<std::string, Kind> answered_;  // by the dtypes of its tensors
  std::optional<Shortest> special_;
  std::map<std::string, Shortest, std::less<>> refused_;  // by rule
};

}  // namespace

CallCoverage call_coverage(const RecordedCalls& calls, std::size_t kinds) { return Survey(calls).finish(kinds); }

}  // namespace assay
