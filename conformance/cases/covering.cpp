#include "conformance/cases/covering.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "conformance/cases/call_features.h"
#include "conformance/cases/tensors.h"
#include "reference/call.h"

namespace assay::cases {
namespace {

using verdict::CallFeatures, verdict::call_feature_count, verdict::call_features, verdict::no_value;

constexpr std::size_t most_tried = 60'000;      // mutated calls of an operator
constexpr std::size_t most_mutations_made = 5;  // of a call
constexpr std::size_t most_double = 6'000;      // tries with two mutations at once
constexpr std::size_t most_directed = 1'500;    // calls whose mutations are searched for one combination
constexpr std::size_t most_drawn = 300;         // calls from which one is chosen
constexpr std::size_t refusals_needed = 4;      // of calls that differ, to count a combination as excluded
constexpr std::array<Int, 6> lengths_tried{0, 1, 2, 6, 20, 70};
constexpr std::array<Int, 6> lengths_kept{0, 1, 2, 6, 17, 20};  // 17: the shortest of the longest class of lengths
constexpr Int most_elements_tried = 20'000, most_work_tried = Int{1} << 20;

using Combination = std::uint64_t;

// The values of features, each as one number, which is not 0.
constexpr Combination radix = call_feature_count * 64;
Combination number_of(std::size_t feature, std::int8_t value) {
  return feature * 64 + static_cast<Combination>(value) + 1;
}

// f(combination) for all combinations of so many of the numbers, in their order.
template <class F>
void each_combination(std::span<const Combination> numbers, std::size_t at_once, F f, Combination begun = 0) {
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (at_once == 1)
      f(begun * radix + numbers[k]);
    else
      each_combination(numbers.subspan(k + 1), at_once - 1, f, begun * radix + numbers[k]);
}

std::vector<Combination> numbers_of(const CallFeatures& values) {
  std::vector<Combination> all;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] != no_value) all.push_back(number_of(k, values[k]));
  return all;
}

// All combinations of so many features of a call, each as one number.
std::vector<Combination> combinations(const CallFeatures& values, std::size_t at_once) {
  std::vector<Combination> all;
  each_combination(numbers_of(values), at_once, [&](Combination c) { all.push_back(c); });
  return all;
}

struct FeatureValue {
  std::size_t feature;
  std::int8_t value;
  bool in(const CallFeatures& features) const { return features[feature] == value; }
};

std::vector<FeatureValue> values_in(Combination c) {
  std::vector<FeatureValue> all;
  for (; c > 0; c /= radix) {
    const Combination n = c % radix - 1;
    all.insert(all.begin(), {static_cast<std::size_t>(n / 64), static_cast<std::int8_t>(n % 64)});
  }
  return all;
}

std::size_t values_of_other(const CallFeatures& features, std::span<const FeatureValue> values) {
  return static_cast<std::size_t>(
      std::ranges::count_if(values, [&](const FeatureValue& v) { return !v.in(features); }));
}

// Tells which combinations no valid call has.
class Exclusions {
 public:
  // A call with the features `before` was answered. A change of it led to a call that breaks a rule.
  void note_refusal(const CallFeatures& before, const CallFeatures& after, std::size_t at_once) {
    std::vector<std::size_t> changed;
    for (std::size_t k = 0; k < after.size(); ++k)
      if (before[k] != after[k]) changed.push_back(k);
    if (changed.empty() || !std::ranges::all_of(changed, [&](std::size_t k) { return change_together(changed[0], k); }))
      return;
    const std::size_t base = hash_of(before);
    const std::vector<Combination> numbers = numbers_of(after);
    for (const std::size_t k : changed) {
      if (after[k] == no_value) continue;
      std::vector<Combination> kept;  // the numbers that the change left alone
      for (const Combination n : numbers)
        if (std::size_t f = (n - 1) / 64; before[f] == after[f]) kept.push_back(n);
      for (std::size_t n = 2; n <= at_once; ++n)
        each_combination(kept, n - 1, [&](Combination c) { note(with(c, number_of(k, after[k])), base); });
    }
  }

  // Requires a combination that no answered call has.
  bool has(Combination c) const {
    const auto found = bases_.find(c);
    return (found != bases_.end() && found->second.size() >= refusals_needed) || contradicts_itself(c);
  }

 private:
  static std::size_t hash_of(const CallFeatures& features) {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(features.data()), features.size()});
  }

  static Combination with(Combination c, Combination number) {
    std::vector<Combination> numbers{number};
    for (; c > 0; c /= radix) numbers.push_back(c % radix);
    std::ranges::sort(numbers);
    Combination all = 0;
    for (const Combination n : numbers) all = all * radix + n;
    return all;
  }

  void note(Combination c, std::size_t base) {
    std::vector<std::size_t>& bases = bases_[c];
    if (bases.size() < refusals_needed && std::ranges::find(bases, base) == bases.end()) bases.push_back(base);
  }

  static bool is_of_first_tensor(const FeatureValue& v) {
    const std::string_view name = call_features()[v.feature].name;
    return name == "rank" || name == "layout" || name.ends_with(" size") || name == "elements";
  }

  static bool contradicts_itself(Combination c) {
    static const std::vector<CallFeatures> tensors = features_of_tensors();
    const std::vector<FeatureValue> values = values_in(c);
    return std::ranges::all_of(values, is_of_first_tensor) &&
           std::ranges::all_of(tensors, [&](const CallFeatures& t) { return values_of_other(t, values) > 0; });
  }

  std::unordered_map<Combination, std::vector<std::size_t>> bases_;  // hashes of the answered calls' features
};

class CoveringSearch {
 public:
  CoveringSearch(const Corpus& corpus, const RecordedCalls& calls)
      : corpus_(corpus), op_(calls.op()), at_once_(branches_on_triples(op_) ? 3 : 2) {
    for (std::size_t i = 0; i < calls.size(); ++i) take_recorded({std::string(op_.name), calls.digest(i), {}});
    found_.coverage.at_once = at_once_;
    found_.coverage.recorded = covered_.size();
    recorded_ = covered_;
  }

  std::vector<CaseId> thin(const std::vector<CaseId>& cases, const std::vector<CaseId>& beside) const {
    std::map<std::string, Base> left;
    for (const CaseId& id : cases) {
      Base base = shortened(base_of(id));
      left.emplace(to_text(base.id), std::move(base));
    }
    std::vector<std::pair<Int, std::string>> longest_first;
    std::unordered_map<Combination, int> calls_with;
    for (const auto& [id, base] : left) {
      longest_first.emplace_back(-elements_of(base.arguments), id);
      for (const Combination c : missing_in(base.arguments)) ++calls_with[c];
    }
    for (const CaseId& id : beside)
      for (const Combination c : missing_in(base_of(id).arguments)) ++calls_with[c];
    std::ranges::sort(longest_first);
    for (const auto& [elements, id] : longest_first) {
      const std::vector<Combination> all = missing_in(left.at(id).arguments);
      if (std::ranges::any_of(all, [&](Combination c) { return calls_with.at(c) == 1; })) continue;
      for (const Combination c : all) --calls_with.at(c);
      left.erase(id);
    }
    std::vector<CaseId> remaining;
    for (const auto& [id, base] : left) remaining.push_back(base.id);
    return remaining;
  }

  Covering finish() && {
    while (!queue_.empty() && found_.coverage.tried < most_tried) {
      const Base base = std::move(queue_.front());
      queue_.pop_front();
      try_all(base);
    }
    try_doubles();
    try_directed();
    for (const Combination c : uncovered()) ++(is_excluded(c) ? found_.coverage.excluded : found_.coverage.missing);
    found_.coverage.covered = covered_.size();
    choose();
    return std::move(found_);
  }

 private:
  struct Base {
    CaseId id;
    std::vector<Value> arguments;
    CallFeatures features{};
  };

  struct Gain {  // how many missing combinations a call has
    std::size_t gain, call;
    auto operator<=>(const Gain&) const = default;
  };

  void take_recorded(const CaseId& id) {
    Case c = corpus_.make(id);
    if (c.recorded.refused) return;
    forget_outs(op_, c.arguments);
    const CallFeatures features = call_features_of(op_, c.arguments);
    if (!is_small(c.arguments) || !answers(c.arguments)) return;
    if (!add(features)) return;
    queue_.push_back({id, std::move(c.arguments), features});
    answered_.push_back(queue_.back());
  }

  static Int elements_of(std::span<const Value> arguments) {
    Int elements = 0;
    each_tensor(arguments, [&](const Tensor& t, std::size_t) { elements += t.count(); });
    return elements;
  }

  static bool is_small(std::span<const Value> arguments) { return elements_of(arguments) <= most_elements_tried; }

  Base base_of(const CaseId& id) const {
    Base base{id, corpus_.make({id.operator_name, id.call, {}}).arguments, {}};
    forget_outs(op_, base.arguments);
    for (const Mutation& m : id.mutations) base.arguments = mutated(op_, std::move(base.arguments), m);
    return base;
  }

  // The case with the shortest lengths in its mutations that leave its features as they are.
  Base shortened(Base base) const {
    const CallFeatures features = call_features_of(op_, base.arguments);
    for (std::size_t k = 0; k < base.id.mutations.size(); ++k)
      for (const Int length : lengths_kept) {
        if (base.id.mutations[k].kind != Mutation::Kind::extents || length >= base.id.mutations[k].n[1]) break;
        CaseId shorter = base.id;
        shorter.mutations[k].n[1] = length;
        Base other = base_of(shorter);
        if (call_features_of(op_, other.arguments) != features || !answers(other.arguments)) continue;
        base = std::move(other);
        break;
      }
    return base;
  }

  // The combinations of a call that no recorded call has.
  std::vector<Combination> missing_in(std::span<const Value> arguments) const {
    std::vector<Combination> all = combinations(call_features_of(op_, arguments), at_once_);
    std::erase_if(all, [&](Combination c) { return recorded_.contains(c); });
    return all;
  }

  Outcome outcome_of(std::vector<Value> arguments) const {
    return call(op_, arguments, Budget({.bytes = Int{1} << 24, .work = most_work_tried})).outcome;
  }
  bool answers(const std::vector<Value>& arguments) const { return outcome_of(arguments) == Outcome::ok; }

  bool has_new(const CallFeatures& features) const {
    return std::ranges::any_of(combinations(features, at_once_), [&](Combination c) { return !covered_.contains(c); });
  }

  bool add(const CallFeatures& features) {
    for (std::size_t k = 0; k < features.size(); ++k)
      if (features[k] != no_value) values_[k].insert(features[k]);
    const std::size_t before = covered_.size();
    for (const Combination c : combinations(features, at_once_)) covered_.insert(c);
    for (const Combination c : combinations(features, 2)) pairs_.insert(c);
    return covered_.size() > before;
  }

  std::vector<Mutation> mutations_of(const Base& base) const {
    using enum Mutation::Kind;
    std::vector<Mutation> all;
    for (std::size_t i = 0; i < op_.arguments.size(); ++i)
      for (const Mutation& m : changes_of(op_, base.arguments, i))
        if (m.kind != values && m.kind != out && m.kind != text) all.push_back(m);
    std::set<Int> lengths;
    each_tensor(base.arguments, [&](const Tensor& t, std::size_t) { lengths.insert(t.sizes.begin(), t.sizes.end()); });
    for (Int k = 0; k < std::ssize(lengths); ++k)
      for (const Int length : lengths_tried)
        for (const Int with_integers : {0, 1}) all.push_back({extents, {k, length, with_integers}});
    return all;
  }

  static std::vector<Value> with(const Operator& op, const Base& base, std::span<const Mutation> mutations) {
    std::vector<Value> changed = base.arguments;
    for (const Mutation& m : mutations) changed = mutated(op, std::move(changed), m);
    return changed;
  }

  void attempt(const Base& base, std::span<const Mutation> mutations) {
    ++found_.coverage.tried;
    std::vector<Value> changed = with(op_, base, mutations);
    if (!is_small(changed)) return;
    const CallFeatures features = call_features_of(op_, changed);
    if (!has_new(features)) return;
    const Outcome outcome = outcome_of(changed);
    if (outcome != Outcome::ok && outcome != Outcome::exhausted)
      return exclusions_.note_refusal(base.features, features, at_once_);
    if (outcome != Outcome::ok) return;
    add(features);
    Base made{base.id, std::move(changed), features};
    made.id.mutations.insert(made.id.mutations.end(), mutations.begin(), mutations.end());
    made_.push_back(made), answered_.push_back(made);
    if (made.id.mutations.size() < most_mutations_made) queue_.push_back(std::move(made));
  }

  void try_all(const Base& base) {
    for (const Mutation& m : mutations_of(base))
      if (found_.coverage.tried < most_tried) attempt(base, {&m, 1});
    if (bases_.size() < 64) bases_.push_back(base);
  }

  void try_doubles() {
    std::mt19937_64 random(1);
    if (bases_.empty()) return;
    std::vector<std::vector<Mutation>> mutations;
    for (const Base& base : bases_) mutations.push_back(mutations_of(base));
    for (std::size_t k = 0; k < most_double; ++k) {
      const std::size_t at = random() % bases_.size();
      if (mutations[at].empty()) continue;
      const Mutation both[]{mutations[at][random() % mutations[at].size()],
                            mutations[at][random() % mutations[at].size()]};
      attempt(bases_[at], both);
    }
  }

  // Changes answered calls that have all values of a combination but one.
  void try_directed() {
    std::mt19937_64 random(3);
    std::vector<Combination> wanted = uncovered();
    for (std::size_t left = wanted.size(); left > 1; --left) std::swap(wanted[left - 1], wanted[random() % left]);
    std::size_t directed = 0;
    for (const Combination c : wanted) {
      if (directed >= most_directed) return;
      if (covered_.contains(c) || is_excluded(c)) continue;
      const std::vector<FeatureValue> values = values_in(c);
      std::size_t near = 0;
      for (std::size_t k = 0, first = random(); k < answered_.size() && near < refusals_needed; ++k) {
        const Base base = answered_[(first + k) % answered_.size()];
        if (values_of_other(base.features, values) != 1 || base.id.mutations.size() >= most_mutations_made) continue;
        ++near, ++directed;
        for (const Mutation& m : mutations_of(base))
          if (values_of_other(call_features_of(op_, with(op_, base, {&m, 1})), values) == 0) attempt(base, {&m, 1});
      }
    }
  }

  bool is_excluded(Combination c) const {
    if (exclusions_.has(c)) return true;
    if (at_once_ == 2) return false;
    const Combination a = c / radix / radix, b = c / radix % radix, d = c % radix;
    return std::ranges::any_of(std::array{a * radix + b, a * radix + d, b * radix + d},
                               [&](Combination pair) { return !pairs_.contains(pair) && exclusions_.has(pair); });
  }

  // The combinations of values that occur in answered calls, without the covered ones.
  std::vector<Combination> uncovered() const {
    std::vector<Combination> all;
    const auto add = [&](auto&& self, std::size_t feature, std::size_t left, Combination begun) -> void {
      if (left == 0) {
        if (!covered_.contains(begun)) all.push_back(begun);
        return;
      }
      for (std::size_t k = feature; k < values_.size(); ++k)
        for (const std::int8_t value : values_[k]) self(self, k + 1, left - 1, begun * radix + number_of(k, value));
    };
    add(add, 0, at_once_, 0);
    return all;
  }

  std::size_t gain_of(const Base& base) const {
    const std::vector<Combination> all = combinations(call_features_of(op_, base.arguments), at_once_);
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](Combination c) { return missing_.contains(c); }));
  }

  // A found call with further mutations. It is often invalid.
  Base drawn(std::mt19937_64& random) const {
    Base base = made_[random() % made_.size()];
    for (std::size_t more = 1 + random() % 2; more > 0; --more) {
      const std::vector<Mutation> mutations = mutations_of(base);
      if (mutations.empty()) break;
      base.id.mutations.push_back(mutations[random() % mutations.size()]);
      base.arguments = mutated(op_, std::move(base.arguments), base.id.mutations.back());
      if (!is_small(base.arguments)) break;
    }
    return base;
  }

  // The best of some drawn calls if it has more missing combinations than the best of the found calls, else that call.
  Base best(std::mt19937_64& random) {
    while (gains_.top().gain > gain_of(made_[gains_.top().call])) {  // gains become smaller with each chosen call
      const std::size_t call = gains_.top().call;
      gains_.pop();
      gains_.push({gain_of(made_[call]), call});
    }
    Base found = made_[gains_.top().call];
    std::size_t gain = gains_.top().gain;
    for (std::size_t k = 0; k < most_drawn; ++k) {
      Base other = drawn(random);
      const std::size_t of_other = is_small(other.arguments) ? gain_of(other) : 0;
      if (of_other > gain && answers(other.arguments)) gain = of_other, found = std::move(other);
    }
    return found;
  }

  // Chooses few calls that have all combinations which recorded calls lack.
  void choose() {
    std::mt19937_64 random(2);
    for (const Combination c : covered_)
      if (!recorded_.contains(c)) missing_.insert(c);
    for (std::size_t k = 0; k < made_.size(); ++k) gains_.push({gain_of(made_[k]), k});
    while (!missing_.empty()) {
      const Base chosen = best(random);
      for (const Combination c : combinations(call_features_of(op_, chosen.arguments), at_once_)) missing_.erase(c);
      found_.cases.push_back(chosen.id);
    }
  }

  const Corpus& corpus_;
  const Operator& op_;
  const std::size_t at_once_;
  std::unordered_set<Combination> covered_, recorded_, missing_;
  std::unordered_set<Combination> pairs_;  // in the answered calls
  Exclusions exclusions_;
  std::array<std::set<std::int8_t>, call_feature_count> values_;
  std::deque<Base> queue_;
  std::vector<Base> bases_;
  std::vector<Base> made_;
  std::vector<Base> answered_;       // the recorded calls with a new combination, and the made ones
  std::priority_queue<Gain> gains_;  // the upper bound of the gain of each made call
  Covering found_;
};

}  // namespace

std::vector<CaseId> thinned(const Corpus& corpus, const RecordedCalls& calls, const std::vector<CaseId>& cases,
                            const std::vector<CaseId>& beside) {
  return CoveringSearch(corpus, calls).thin(cases, beside);
}

Covering covering_of(const Corpus& corpus, const RecordedCalls& calls) {
  return CoveringSearch(corpus, calls).finish();
}

}  // namespace assay::cases
