#include "conformance/defects/explain.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

namespace assay {
namespace {

constexpr std::size_t longest = 4, beam = 16, most_amounts = 12;
constexpr double purity = 0.95;  // of what a predicate covers at least so much fails

// A set of examples.
class Set {
 public:
  explicit Set(std::size_t size, bool all = false) : words_((size + 63) / 64, all ? ~std::uint64_t{0} : 0) {
    if (all && size % 64 != 0) words_.back() = (std::uint64_t{1} << size % 64) - 1;
  }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  std::size_t count() const {
    std::size_t n = 0;
    for (const std::uint64_t w : words_) n += static_cast<std::size_t>(std::popcount(w));
    return n;
  }
  std::size_t count_with(const Set& other) const {
    std::size_t n = 0;
    for (std::size_t k = 0; k < words_.size(); ++k)
      n += static_cast<std::size_t>(std::popcount(words_[k] & other.words_[k]));
    return n;
  }
  Set operator&(const Set& other) const {
    Set both = *this;
    for (std::size_t k = 0; k < words_.size(); ++k) both.words_[k] &= other.words_[k];
    return both;
  }
  Set without(const Set& other) const {
    Set left = *this;
    for (std::size_t k = 0; k < words_.size(); ++k) left.words_[k] &= ~other.words_[k];
    return left;
  }
  bool operator==(const Set&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

// The bits that say which k of n.
double bits_of_choice(std::size_t k, std::size_t n) {
  const auto fact = [](std::size_t m) { return std::lgamma(static_cast<double>(m) + 1); };
  return (fact(n) - fact(k) - fact(n - k)) / std::log(2.0) + std::log2(static_cast<double>(n) + 1);
}

bool is_about_the_call(std::string_view flag) {
  static const std::set<std::string, std::less<>> all(call_flags().begin(), call_flags().end());
  return all.contains(flag) || says_broken(flag);
}

// The bits that a literal takes: what is said more often in descriptions of defects takes less.
double bits_of(const Literal& l) {
  const bool sized = l.name.starts_with("the ") && !l.name.starts_with("the rank of ");
  const double indirect = l.name.starts_with("a result ") ? 1 : 0;  // what the call has says more than what comes of it
  switch (l.test) {
    case Literal::Test::holds:
      return indirect + (is_about_the_call(l.name) ? 4 : 4.5);
    case Literal::Test::lacks:
      return indirect + (is_about_the_call(l.name) ? 5.5 : 6);
    case Literal::Test::is:
      return sized ? 14 : 6.5;
    default:
      return sized ? 13 : 7;
  }
}

struct Candidate {
  Literal literal;
  Set covered;
};

class Candidates {
 public:
  explicit Candidates(std::span<const Example> examples) : examples_(examples) {
    std::set<std::string, std::less<>> flags;
    std::map<std::string, std::set<double>, std::less<>> amounts;
    for (const Example& e : examples) {
      flags.insert(e.features->flags.begin(), e.features->flags.end());
      if (!e.fails) continue;
      for (const Measure& m : e.features->measures) amounts[m.name].insert(m.amount);
    }
    for (const std::string& flag : flags) {
      add({Literal::Test::holds, flag, 0});
      if (!says_broken(flag)) add({Literal::Test::lacks, flag, 0});
    }
    for (const auto& [name, values] : amounts) add_amounts(name, {values.begin(), values.end()});
  }

  const std::vector<Candidate>& all() const { return all_; }

 private:
  void add_amounts(const std::string& name, const std::vector<double>& values) {
    const std::size_t step = values.size() / most_amounts + 1;
    for (std::size_t k = 0; k < values.size(); k += step)
      for (const auto test : {Literal::Test::is, Literal::Test::at_least, Literal::Test::at_most})
        add({test, name, values[k]});
    add({Literal::Test::at_most, name, values.back()});
  }

  // Unless it says nothing, or what a simpler one says as well.
  void add(Literal literal) {
    Candidate c{std::move(literal), Set(examples_.size())};
    bool covers_failing = false;
    for (std::size_t i = 0; i < examples_.size(); ++i)
      if (c.literal.of(*examples_[i].features)) c.covered.add(i), covers_failing |= examples_[i].fails;
    if (!covers_failing || c.covered.count() == examples_.size()) return;
    for (Candidate& other : all_)
      if (other.covered == c.covered) {
        if (bits_of(c.literal) < bits_of(other.literal)) other.literal = c.literal;
        return;
      }
    all_.push_back(std::move(c));
  }

  std::span<const Example> examples_;
  std::vector<Candidate> all_;
};

struct Conjunction {
  std::vector<std::size_t> literals;  // positions of candidates
  Set covered;
  double bits = 0;  // of its words
  double cost = 0;  // of its words and its exceptions
};

class Search {
 public:
  Search(const std::vector<Candidate>& candidates, Set failing, Set passing)
      : candidates_(candidates), failing_(std::move(failing)), passing_(std::move(passing)) {
    failures_ = failing_.count(), passes_ = passing_.count();
  }

  // The conjunction that costs least, of those that are pure if there are any.
  Conjunction best(std::size_t size) {
    Conjunction everything{{}, Set(size, true), 0, 0};
    everything.cost = cost(everything);
    consider(everything);
    std::vector<Conjunction> front{everything};
    for (std::size_t length = 1; length <= longest && !front.empty(); ++length) {
      std::vector<Conjunction> longer;
      for (const Conjunction& c : front) extend(c, longer);
      std::ranges::sort(longer, [](const Conjunction& a, const Conjunction& b) {
        return std::tie(a.cost, a.literals) < std::tie(b.cost, b.literals);
      });
      const auto same = [](const Conjunction& a, const Conjunction& b) { return a.covered == b.covered; };
      longer.erase(std::unique(longer.begin(), longer.end(), same), longer.end());
      if (longer.size() > beam) longer.resize(beam, everything);
      for (const Conjunction& c : longer) consider(c);
      front = std::move(longer);
    }
    return pure_ ? *pure_ : *best_;
  }

 private:
  double cost(const Conjunction& c) const {
    const std::size_t hit = c.covered.count_with(failing_), wrong = c.covered.count_with(passing_);
    return c.bits + bits_of_choice(wrong, hit + wrong) +
           bits_of_choice(failures_ - hit, failures_ - hit + passes_ - wrong);
  }

  void extend(const Conjunction& c, std::vector<Conjunction>& longer) const {
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      if (std::ranges::find(c.literals, k) != c.literals.end()) continue;
      Conjunction more{c.literals, c.covered & candidates_[k].covered, c.bits + bits_of(candidates_[k].literal), 0};
      if (more.covered == c.covered || more.covered.count_with(failing_) == 0) continue;
      more.literals.push_back(k);
      std::ranges::sort(more.literals);
      more.cost = cost(more);
      longer.push_back(std::move(more));
    }
  }

  void consider(const Conjunction& c) {
    const auto hit = static_cast<double>(c.covered.count_with(failing_)),
               wrong = static_cast<double>(c.covered.count_with(passing_));
    for (auto* best : {&best_, &pure_})
      if ((best == &best_ || hit >= purity * (hit + wrong)) && (!*best || c.cost < (*best)->cost)) *best = c;
  }

  const std::vector<Candidate>& candidates_;
  Set failing_, passing_;
  std::size_t failures_ = 0, passes_ = 0;
  std::optional<Conjunction> best_, pure_;
};

}  // namespace

std::vector<Predicate> explain(std::span<const Example> examples) {
  Set failing(examples.size()), passing(examples.size());
  for (std::size_t i = 0; i < examples.size(); ++i) (examples[i].fails ? failing : passing).add(i);
  const Candidates candidates(examples);
  std::vector<Predicate> found;
  while (failing.count() > 0) {
    const Conjunction best = Search(candidates.all(), failing, passing).best(examples.size());
    Predicate predicate;
    for (const std::size_t k : best.literals) predicate.push_back(candidates.all()[k].literal);
    std::ranges::sort(predicate);
    found.push_back(std::move(predicate));
    failing = failing.without(best.covered);
  }
  return found;
}

}  // namespace assay
