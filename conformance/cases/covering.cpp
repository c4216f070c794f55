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

constexpr std::size_t most_tried = 60'000;      // mutated calls of an operator
constexpr std::size_t most_mutations_made = 5;  // of a call
constexpr std::size_t most_double = 6'000;      // tries with two mutations at once
constexpr std::size_t most_drawn = 300;         // calls from which one is chosen
constexpr std::array<Int, 6> lengths_tried{0, 1, 2, 6, 20, 70};
constexpr std::array<Int, 6> lengths_kept{0, 1, 2, 6, 17, 20};  // 17: the shortest of the longest class of lengths
constexpr Int most_elements_tried = 20'000, most_work_tried = Int{1} << 20;

using Combination = std::uint64_t;

// All combinations of so many features of a call, each as one number.
std::vector<Combination> combinations(const CallFeatures& values, std::size_t at_once) {
  constexpr Combination radix = call_feature_count * 64;
  std::vector<Combination> each;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] != no_value) each.push_back(k * 64 + static_cast<Combination>(values[k]) + 1);
  std::vector<Combination> all;
  for (std::size_t i = 0; i < each.size(); ++i)
    for (std::size_t j = i + 1; j < each.size(); ++j) {
      if (at_once == 2) all.push_back(each[i] * radix + each[j]);
      for (std::size_t k = j + 1; at_once == 3 && k < each.size(); ++k)
        all.push_back((each[i] * radix + each[j]) * radix + each[k]);
    }
  return all;
}

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
    choose();
    found_.coverage.covered = covered_.size();
    found_.coverage.possible = possible();
    return std::move(found_);
  }

 private:
  struct Base {
    CaseId id;
    std::vector<Value> arguments;
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
    if (add(features)) queue_.push_back({id, std::move(c.arguments)});
  }

  static Int elements_of(std::span<const Value> arguments) {
    Int elements = 0;
    each_tensor(arguments, [&](const Tensor& t, std::size_t) { elements += t.count(); });
    return elements;
  }

  static bool is_small(std::span<const Value> arguments) { return elements_of(arguments) <= most_elements_tried; }

  Base base_of(const CaseId& id) const {
    Base base{id, corpus_.make({id.operator_name, id.call, {}}).arguments};
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

  bool answers(std::vector<Value> arguments) const {
    return call(op_, arguments, Budget({.bytes = Int{1} << 24, .work = most_work_tried})).outcome == Outcome::ok;
  }

  bool has_new(const CallFeatures& features) const {
    return std::ranges::any_of(combinations(features, at_once_), [&](Combination c) { return !covered_.contains(c); });
  }

  bool add(const CallFeatures& features) {
    for (std::size_t k = 0; k < features.size(); ++k)
      if (features[k] != no_value) values_[k].insert(features[k]);
    const std::size_t before = covered_.size();
    for (const Combination c : combinations(features, at_once_)) covered_.insert(c);
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

  void attempt(const Base& base, std::span<const Mutation> mutations) {
    ++found_.coverage.tried;
    std::vector<Value> changed = base.arguments;
    for (const Mutation& m : mutations) changed = mutated(op_, std::move(changed), m);
    if (!is_small(changed)) return;
    const CallFeatures features = call_features_of(op_, changed);
    if (!has_new(features) || !answers(changed)) return;
    add(features);
    Base made{base.id, std::move(changed)};
    made.id.mutations.insert(made.id.mutations.end(), mutations.begin(), mutations.end());
    made_.push_back(made);
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

  std::size_t possible() const {
    std::array<std::size_t, 4> ways{1, 0, 0, 0};  // of choosing values of 0 to 3 features
    for (const auto& values : values_)
      for (std::size_t n = 3; n > 0; --n) ways[n] += ways[n - 1] * values.size();
    return ways[at_once_];
  }

  const Corpus& corpus_;
  const Operator& op_;
  const std::size_t at_once_;
  std::unordered_set<Combination> covered_, recorded_, missing_;
  std::array<std::set<std::int8_t>, call_feature_count> values_;
  std::deque<Base> queue_;
  std::vector<Base> bases_;
  std::vector<Base> made_;
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
