#include "conformance/defects/explain.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace assay::defects {
namespace {

constexpr std::size_t beam = 16, most_amounts = 12;
constexpr double counterfactual = 2;  // bits that a literal saves if a change of one argument shows it to be the cause
constexpr double unproved = 5;       // bits that a fact about numbers costs more, if no change of one argument shows so
constexpr double indirect_bits = 9;  // of a fact that is not about an argument, or that many calls share by chance
constexpr double purity = 0.95;      // the share of failing examples among those that a pure predicate covers, at least

// Not every machine has the instruction popcnt. Without it, std::popcount is a function call.
constexpr std::size_t count_bits(std::uint64_t w) {
  w -= w >> 1 & 0x5555555555555555u;
  w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
  return ((w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

// A set of examples.
class Set {
 public:
  explicit Set(std::size_t size, bool all = false) : words_((size + 63) / 64, all ? ~std::uint64_t{0} : 0) {
    if (all && size % 64 != 0) words_.back() = (std::uint64_t{1} << size % 64) - 1;
  }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  std::size_t count() const {
    std::size_t n = 0;
    for (const std::uint64_t w : words_) n += count_bits(w);
    return n;
  }
  std::size_t count_with(const Set& other) const {
    std::size_t n = 0;
    for (std::size_t k = 0; k < words_.size(); ++k) n += count_bits(words_[k] & other.words_[k]);
    return n;
  }
  Set operator&(const Set& other) const {
    Set both = *this;
    for (std::size_t k = 0; k < words_.size(); ++k) both.words_[k] &= other.words_[k];
    return both;
  }
  Set& operator|=(const Set& other) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] |= other.words_[k];
    return *this;
  }
  Set without(const Set& other) const {
    Set left = *this;
    for (std::size_t k = 0; k < words_.size(); ++k) left.words_[k] &= ~other.words_[k];
    return left;
  }
  auto operator<=>(const Set&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

// The number of bits that a choice of k among n takes, for n up to `most`.
class Choices {
 public:
  explicit Choices(std::size_t most) : factorials_(most + 1), logarithms_(most + 2) {
    for (std::size_t n = 1; n <= most + 1; ++n) logarithms_[n] = std::log2(static_cast<double>(n));
    for (std::size_t n = 1; n <= most; ++n) factorials_[n] = factorials_[n - 1] + logarithms_[n];
  }
  double bits(std::size_t k, std::size_t n) const {
    return factorials_[n] - factorials_[k] - factorials_[n - k] + logarithms_[n + 1];
  }

 private:
  std::vector<double> factorials_;  // logarithms of the factorials
  std::vector<double> logarithms_;
};

bool is_about_the_call(features::Phrase flag) {
  static const std::set<const std::string*> all = [] {
    std::set<const std::string*> places;
    for (const features::Phrase known : features::call_flags()) places.insert(known.place());
    return places;
  }();
  return all.contains(flag.place()) || features::says_broken(flag);
}

template <class List>
bool ends_with_any(std::string_view name, const List& endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// Facts that many calls share by chance, and that no kernel branches on.
constexpr auto statistics =
    std::to_array<std::string_view>({" has different numbers", "a quotient is below 1 somewhere",
                                     "a quotient of negative operands is below 1 somewhere",
                                     "a quotient differs from the product with the reciprocal somewhere"});
// Relations for which kernels have a path of their own.
constexpr auto paths = std::to_array<std::string_view>({" is the number of channels", " is the last dimension"});
// Facts that are named only where nothing else tells the calls apart.
constexpr auto last_resorts = std::to_array<std::string_view>(
    {" has rows of a multiple of 4", " has rows of a multiple of 8", " has numbers that float32 lacks"});
// What makes the elements of a tensor special.
constexpr auto special_values = std::to_array<std::string_view>(
    {" has NaN", " has infinity", " has a negative zero", " has subnormal numbers", " has extreme numbers"});
constexpr auto other_values = std::to_array<std::string_view>(
    {" has zeros", " has negative numbers", " has fractions", " has numbers halfway between integers",
     " has numbers above 2^24", " has numbers of 2^31 and more", " has numbers above 2^53",
     " has numbers that float32 lacks", " has equal elements"});

// Kernels have a path for tensors of one element.
bool is_one_element(const Literal& l) {
  return l.test == Literal::Test::is && l.amount == 1 && l.name.text().starts_with("the number of elements of ");
}

// The least number of elements above `passing` from which on a kernel may branch: a power of two, or the number behind
// it; 0 if it is above `failing`. Widths of vectors, blocks and shares of threads are such powers. Drawn calls show
// whether the kernel branches at a larger one.
double branching_size(double passing, double failing) {
  const auto most = static_cast<Bits>(passing);
  const auto least = static_cast<double>(std::has_single_bit(most) ? most + 1 : std::bit_ceil(most + 1));
  return least <= failing ? least : 0;
}

bool is_telling(const Literal& l) {
  const std::string_view name = l.name;
  const bool special = ends_with_any(name, special_values), other = ends_with_any(name, other_values);
  switch (l.test) {
    case Literal::Test::holds:
      return !ends_with_any(name, statistics) && !(name.starts_with("a result ") && other);
    case Literal::Test::lacks:
      return !ends_with_any(name, statistics) && !special && !other && !name.ends_with(" somewhere");
    default:
      break;
  }
  if (name.starts_with("the least number of ") || name.starts_with("the largest number of ")) return false;
  // Every tensor with elements has sizes of 1 and more.
  if (l.is_about_sizes()) return (l.test == Literal::Test::at_least && l.amount > 1) || is_one_element(l);
  const double halves = l.test == Literal::Test::is ? 2 * l.amount : l.amount;  // kernels branch on 0.5
  return halves == std::trunc(halves) && std::fabs(halves) < 0x1p31;
}

// Facts that many calls with a mistake share, though the kernel does not look at them.
constexpr auto often_by_chance =
    std::to_array<std::string_view>({" has different entries", " has fractions", " has equal elements", " has zeros",
                                     " has numbers halfway between integers", " has negative numbers",
                                     " has a negative zero", " has subnormal numbers", " has NaN", " has infinity"});

// The number of bits that a literal takes. Arguments, dtypes, layouts and sizes come before values: literals that are
// frequent in descriptions of defects take fewer bits.
double bits_of(const Literal& l) {
  const std::string_view name = l.name;
  const bool sized =
      name.starts_with("the ") && !name.starts_with("the rank of ") && !name.starts_with("the length of ");
  // A fact about a result tells nothing of what the kernel branches on.
  const bool is_last =
      ends_with_any(name, last_resorts) || name.starts_with("a result ") || name.starts_with("result ");
  const bool about_values = ends_with_any(name, special_values) || ends_with_any(name, other_values);
  const bool compares_sizes = name.find(" and ") != name.npos && name.ends_with(" sizes");
  const double indirect = (about_values || compares_sizes ? 0.5 : 0) + (is_last ? 9 : 0);
  switch (l.test) {
    case Literal::Test::holds:
      if (ends_with_any(name, paths)) return 3;
      return indirect + (is_about_the_call(l.name) ? 4 : 4.5);
    case Literal::Test::lacks:  // "no argument is 1" tells less than "groups is not 1"
      if (name.ends_with(" is None") && !name.starts_with("an argument ")) return 4.5;  // an optional argument is given
      return indirect + (name.ends_with(" has a size of 1") ? 6 : 0) +
             (name.starts_with("an argument ") ? 9
              : is_about_the_call(l.name)      ? 5.5
                                               : 6);
    case Literal::Test::is:
      return is_one_element(l) ? 7.5 : sized ? 14 : name.starts_with("the ") ? 7.5 : 6.5;
    default:  // kernels branch on the length of rows, and on whether there is a batch
      if (name.ends_with(" along dim") || name.starts_with("the number of elements of ")) return 11.5;
      return sized && !(name.starts_with("the first size of ") && l.amount == 2) ? 12 : 7;
  }
}

struct PlaceHash {
  std::size_t operator()(features::Phrase p) const { return std::hash<const std::string*>()(p.place()); }
};

struct Candidate {
  Literal literal;
  Set covered;
  double bits;  // bits of the literal
};

// The literals that hold for some failing examples but not for all examples, each with the examples for which it holds.
// Of literals that hold for the same examples, only the shortest is kept.
class Candidates {
 public:
  explicit Candidates(std::span<const Example> examples) : examples_(examples), failing_(examples.size()) {
    std::unordered_map<features::Phrase, Set, PlaceHash> found;
    std::unordered_map<features::Phrase, std::map<double, Set>, PlaceHash> measured;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      if (examples[i].fails) failing_.add(i);
      for (const features::Phrase flag : examples[i].features->flags)
        found.try_emplace(flag, examples.size()).first->second.add(i);
      for (const features::Measure& m : examples[i].features->measures)
        measured[m.name].try_emplace(m.amount, examples.size()).first->second.add(i);
    }
    const std::map<features::Phrase, Set> flags(found.begin(), found.end());
    const std::map<features::Phrase, std::map<double, Set>> amounts(measured.begin(), measured.end());
    const Set all(examples.size(), true);
    for (const auto& [flag, covered] : flags) {
      add({Literal::Test::holds, flag, 0}, covered);
      if (!features::says_broken(flag)) add({Literal::Test::lacks, flag, 0}, all.without(covered));
    }
    for (const auto& [name, covered] : amounts) add_amounts(name, covered);
  }

  const std::vector<Candidate>& all() const { return all_; }

 private:
  void add_amounts(features::Phrase name, const std::map<double, Set>& amounts) {
    std::vector<double> values;  // values of failing examples
    for (const auto& [amount, covered] : amounts)
      if (covered.count_with(failing_) > 0) values.push_back(amount);
    if (values.empty()) return;
    const auto joined = [&](auto from, auto to) {
      Set some(examples_.size());
      for (; from != to; ++from) some |= from->second;
      return some;
    };
    const std::size_t step = values.size() / most_amounts + 1;
    for (std::size_t k = 0; k < values.size(); k += step) {
      add({Literal::Test::is, name, values[k]}, amounts.at(values[k]));
      const auto from = amounts.lower_bound(values[k]);
      const double below = from == amounts.begin() ? 0 : std::prev(from)->first;
      Literal at_least{Literal::Test::at_least, name, values[k]};
      if (at_least.is_about_sizes()) at_least.amount = branching_size(below, values[k]);
      add(std::move(at_least), joined(from, amounts.end()));
      add({Literal::Test::at_most, name, values[k]}, joined(amounts.begin(), amounts.upper_bound(values[k])));
    }
    add({Literal::Test::at_most, name, values.back()}, joined(amounts.begin(), amounts.upper_bound(values.back())));
  }

  // Adds a literal, unless it tells nothing.
  void add(Literal literal, Set covered) {
    if (!is_telling(literal) || covered.count_with(failing_) == 0 || covered.count() == examples_.size()) return;
    const auto [at, is_new] = positions_.try_emplace(covered, all_.size());
    const double bits = bits_of(literal) + (is_counterfactual(literal)    ? -counterfactual
                                            : is_often_by_chance(literal) ? unproved
                                                                          : 0);
    if (is_new)
      all_.push_back({std::move(literal), std::move(covered), bits});
    else if (Candidate& other = all_[at->second]; bits < other.bits)
      other.literal = std::move(literal), other.bits = bits;
  }

  // Whether a call that fails and a call that passes differ in one argument, and in the literal.
  bool is_counterfactual(const Literal& l) const {
    return std::ranges::any_of(examples_, [&](const Example& e) {
      return e.neighbour && e.fails != examples_[*e.neighbour].fails &&
             l.of(*e.features) != l.of(*examples_[*e.neighbour].features);
    });
  }

  std::span<const Example> examples_;
  Set failing_;
  std::vector<Candidate> all_;
  std::map<Set, std::size_t> positions_;
};

struct Conjunction {
  std::vector<std::size_t> literals;  // positions in the list of candidates
  Set covered;
  double bits = 0;  // bits of its literals
  double cost = 0;  // bits of its literals and its exceptions
};

class ConjunctionSearch {
 public:
  ConjunctionSearch(const std::vector<Candidate>& candidates, Set failing, Set passing, std::size_t most_conditions)
      : candidates_(candidates),
        most_conditions_(most_conditions),
        failing_(std::move(failing)),
        passing_(std::move(passing)),
        failures_(failing_.count()),
        passes_(passing_.count()),
        choices_(failures_ + passes_) {}

  // The conjunction of least cost, among the pure ones if there are any.
  Conjunction best(std::size_t size) {
    Conjunction everything{{}, Set(size, true), 0, 0};
    everything.cost = cost(0, failures_, passes_);
    consider(everything);
    std::vector<Conjunction> front{everything};
    for (std::size_t length = 1; length <= most_conditions_ && !front.empty(); ++length) {
      front = longer(front);
      for (const Conjunction& c : front) consider(c);
    }
    return pure_ ? *pure_ : *best_;
  }

 private:
  // The extension of a conjunction by one literal.
  struct Step {
    double cost;
    std::size_t from, literal;
    auto operator<=>(const Step&) const = default;
  };

  // The cheapest conjunctions that have one literal more and cover fewer examples; one for each set of covered
  // examples.
  std::vector<Conjunction> longer(const std::vector<Conjunction>& front) const {
    std::vector<Step> steps;
    for (std::size_t from = 0; from < front.size(); ++from) extend(front[from], from, steps);
    std::ranges::make_heap(steps, std::greater());  // a heap, because only a few of many steps are used
    std::vector<Conjunction> found;
    for (; found.size() < beam && !steps.empty(); steps.pop_back()) {
      std::ranges::pop_heap(steps, std::greater());
      const Step& s = steps.back();
      const Conjunction& shorter = front[s.from];
      Conjunction c{shorter.literals, shorter.covered & candidates_[s.literal].covered,
                    shorter.bits + candidates_[s.literal].bits, s.cost};
      if (std::ranges::find(found, c.covered, &Conjunction::covered) != found.end()) continue;
      c.literals.push_back(s.literal);
      found.push_back(std::move(c));
    }
    return found;
  }

  void extend(const Conjunction& c, std::size_t from, std::vector<Step>& steps) const {
    const Set hits = c.covered & failing_, wrongs = c.covered & passing_;
    const std::size_t all_hits = hits.count(), all_wrongs = wrongs.count();
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      const std::size_t hit = hits.count_with(candidates_[k].covered),
                        wrong = wrongs.count_with(candidates_[k].covered);
      if (hit == 0 || (hit == all_hits && wrong == all_wrongs)) continue;
      steps.push_back({cost(c.bits + candidates_[k].bits, hit, wrong), from, k});
    }
  }

  double cost(double bits, std::size_t hit, std::size_t wrong) const {
    return bits + choices_.bits(wrong, hit + wrong) + choices_.bits(failures_ - hit, failures_ - hit + passes_ - wrong);
  }

  void consider(const Conjunction& c) {
    const auto hit = static_cast<double>(c.covered.count_with(failing_)),
               wrong = static_cast<double>(c.covered.count_with(passing_));
    for (auto* best : {&best_, &pure_})
      if ((best == &best_ || hit >= purity * (hit + wrong)) && (!*best || c.cost < (*best)->cost)) *best = c;
  }

  const std::vector<Candidate>& candidates_;
  std::size_t most_conditions_;
  Set failing_, passing_;
  std::size_t failures_, passes_;
  Choices choices_;
  std::optional<Conjunction> best_, pure_;
};

}  // namespace

bool is_often_by_chance(const Literal& l) { return ends_with_any(l.name, often_by_chance); }

std::vector<Predicate> explain(std::span<const Example> examples, std::size_t most_conditions) {
  Set failing(examples.size()), passing(examples.size());
  for (std::size_t i = 0; i < examples.size(); ++i) (examples[i].fails ? failing : passing).add(i);
  const Candidates candidates(examples);
  std::vector<Predicate> found;
  while (failing.count() > 0) {
    const Conjunction best =
        ConjunctionSearch(candidates.all(), failing, passing, most_conditions).best(examples.size());
    Predicate predicate;
    for (const std::size_t k : best.literals) predicate.push_back(candidates.all()[k].literal);
    std::ranges::sort(predicate);
    found.push_back(std::move(predicate));
    failing = failing.without(best.covered);
  }
  return found;
}

namespace {

// Whether a literal states what one tensor or argument is. What none of them is, or how two are related, many calls
// share by chance.
bool is_fact_of_one(const Literal& l) {
  const std::string_view name = l.name;
  const bool is_vague = name.starts_with("the inputs ") || name.starts_with("an argument ") || goes_without_saying(l);
  const bool is_of_some = name.starts_with("a tensor ") || name.starts_with("an input ") || name.starts_with("every ");
  return !is_vague && !(l.test == Literal::Test::lacks && is_of_some);
}

}  // namespace

Predicate shared(std::span<const Example> examples, std::size_t most_conditions) {
  Set failing(examples.size()), passing(examples.size());
  for (std::size_t i = 0; i < examples.size(); ++i) (examples[i].fails ? failing : passing).add(i);
  const Candidates candidates(examples);
  Predicate found;
  while (found.size() < most_conditions) {
    const Candidate* best = nullptr;
    const auto rank = [&](const Candidate& c) { return std::pair(passing.count_with(c.covered), c.bits); };
    for (const Candidate& c : candidates.all())
      if (c.bits < indirect_bits && is_fact_of_one(c.literal) && failing.count_with(c.covered) == failing.count() &&
          2 * passing.count_with(c.covered) <= passing.count() && (!best || rank(c) < rank(*best)))
        best = &c;
    if (!best) break;
    found.push_back(best->literal);
    passing = passing & best->covered;
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace assay::defects
