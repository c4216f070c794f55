#include "tools/plant/search.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "conformance/cases/boundary.h"
#include "conformance/cases/case.h"
#include "conformance/cases/fingerprint.h"
#include "conformance/cases/fresh.h"
#include "conformance/cases/tensors.h"
#include "conformance/judge/judge.h"
#include "reference/call.h"
#include "tools/plant/planted.h"

namespace assay {
namespace {

constexpr std::size_t calls_changed = 16;  // of an operator: the smallest that have elements, and others
constexpr std::size_t calls_varied = 4;    // of these: the first
constexpr std::size_t pairs_drawn = 400;   // of changes of each of these
constexpr Int most_bytes = 512;            // of a call that may be recorded, or twice those of the smallest
constexpr std::size_t calls_broken = 6;    // that break a rule which is not always asked, and are changed again
constexpr Int most_elements = 2000;        // of all results that eager is asked for: larger ones are not recorded
constexpr Int most_sizes = 8;              // distinct ones of a call, and lengths that each becomes

Int bytes_of(const std::vector<Value>& arguments) {
  Int bytes = 0;
  each_tensor(arguments, [&](const Tensor& t, std::size_t) { bytes += std::ssize(t.bytes); });
  return bytes;
}

Int elements_of(const std::vector<Tensor>& tensors) {
  Int elements = 0;
  for (const Tensor& t : tensors) elements += t.count();
  return elements;
}

bool names_dtype(const SchemaArgument& argument) { return argument.type.starts_with("ScalarType"); }

// Whether eager has all dtypes of the call.
bool can_be_asked(const Operator& op, const std::vector<Value>& arguments) {
  const auto is_known = [](DType dtype) { return std::ranges::count(planted_dtypes, dtype) > 0; };
  bool known = true;
  each_tensor(arguments, [&](const Tensor& t, std::size_t) { known &= is_known(t.dtype); });
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const Int* n = std::get_if<Int>(&arguments[i]); n && names_dtype(op.arguments[i]))
      known &= is_known(static_cast<DType>(*n));
  return known;
}

// Whether an argument of which the rule speaks has the dtype, or names it; where there is only an out, that.
bool has(const Operator& op, const Rule& rule, DType dtype, const std::vector<Value>& arguments) {
  std::vector<std::size_t> spoken_of = subjects(op, rule);
  if (std::ranges::none_of(op.arguments,
                           [](const SchemaArgument& a) { return !a.out && a.type.starts_with("Tensor"); }))
    for (std::size_t i = 0; i < op.arguments.size(); ++i)
      if (op.arguments[i].out) spoken_of.push_back(i);
  return std::ranges::any_of(spoken_of, [&](std::size_t i) {
    const Int* n = std::get_if<Int>(&arguments[i]);
    bool found = n && names_dtype(op.arguments[i]) && static_cast<DType>(*n) == dtype;
    each_tensor(std::span(arguments).subspan(i, 1), [&](const Tensor& t, std::size_t) { found |= t.dtype == dtype; });
    return found;
  });
}

// The most bytes of a call that may be recorded: few, unless all that are valid have more.
Int bytes_allowed(const std::vector<RecordedCall>& recorded) {
  Int least = std::numeric_limits<Int>::max() / 2;
  for (const RecordedCall& c : recorded)
    if (!c.refused) least = std::min(least, bytes_of(c.arguments));
  return recorded.empty() ? most_bytes : std::max(most_bytes, 2 * least);
}

std::vector<std::vector<Value>> smallest_valid(const Operator& op, const std::vector<RecordedCall>& recorded,
                                               Int bytes) {
  std::vector<std::vector<Value>> valid;
  for (const RecordedCall& c : recorded) {
    if (c.refused || bytes_of(c.arguments) > bytes) continue;
    valid.push_back(c.arguments);
    forget_outs(op, valid.back());
  }
  const auto empty = [](const auto& arguments) {
    bool none = false;
    each_tensor(arguments, [&](const Tensor& t, std::size_t) { none |= t.count() == 0; });
    return none;
  };
  std::ranges::stable_sort(valid, {}, [&](const auto& a) { return std::pair(empty(a), bytes_of(a)); });
  return valid;
}

// f(tensor), which may change it, for each of the call.
template <class F>
void change_each(std::vector<Value>& arguments, F f) {
  for (Value& value : arguments) {
    if (Tensor* t = std::get_if<Tensor>(&value)) f(*t);
    if (Tensors* list = std::get_if<Tensors>(&value))
      for (auto& t : *list)
        if (t) f(*t);
  }
}

// There is no conversion from opaque dtypes: their elements become zero.
Tensor converted(const Tensor& tensor, DType dtype) {
  return info(tensor.dtype).is_opaque() ? make(dtype, tensor.sizes, tensor.dim_order) : cast(tensor, dtype);
}

// add(call) for the call with one tensor, or all of its dtype, of each other dtype.
template <class Add>
void add_dtypes(const std::vector<Value>& arguments, Add add) {
  std::vector<DType> own;
  each_tensor(arguments, [&](const Tensor& t, std::size_t) { own.push_back(t.dtype); });
  for (const DType dtype : planted_dtypes)
    for (std::size_t k = 0; k < own.size(); ++k)
      for (const bool others : {false, true}) {
        std::vector<Value> changed = arguments;
        std::size_t i = 0;
        change_each(changed, [&](Tensor& t) {
          if (i == k || (others && own[i] == own[k])) t = converted(t, dtype);
          ++i;
        });
        add(std::move(changed));
      }
}

// add(call) for the call with one out given, of each dtype.
template <class Add>
void add_outs(const Operator& op, const std::vector<Value>& arguments, Add add) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const DType dtype : planted_dtypes) {
      if (!op.arguments[i].out || op.arguments[i].type != "Tensor") continue;
      std::vector<Value> changed = arguments;
      changed[i] = make(dtype, {0});
      add(std::move(changed));
    }
}

// add(call) for the call with one argument that names a dtype naming each other.
template <class Add>
void add_named_dtypes(const Operator& op, const std::vector<Value>& arguments, Add add) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const DType dtype : planted_dtypes) {
      if (!names_dtype(op.arguments[i])) continue;
      std::vector<Value> changed = arguments;
      changed[i] = static_cast<Int>(dtype);
      add(std::move(changed));
    }
}

// add(call) for the call with one of the integers of which a rule speaks at, next to or behind a limit that it states.
template <class Add>
void add_limits(const Operator& op, const std::vector<Value>& arguments, Add add) {
  for (const Rule& rule : op.rules)
    for (const std::string_view word : rule.arguments) {
      Int limit = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), limit).ec != std::errc{}) continue;
      for (const std::size_t argument : subjects(op, rule))
        for (const Line& line : lines_of(op, arguments, argument))
          for (const Int n : {limit - 1, limit, limit + 1}) {
            std::vector<Value> changed = arguments;
            if (line.set(changed, n)) add(std::move(changed));
          }
    }
}

std::vector<Mutation> all_changes(const Operator& op, const std::vector<Value>& arguments) {
  std::vector<Mutation> changes;
  for (std::size_t argument = 0; argument < op.arguments.size(); ++argument)
    std::ranges::copy(changes_of(op, arguments, argument), std::back_inserter(changes));
  return changes;
}

// Where a change is made; the dtype or word, of those that choose one.
std::array<Int, 3> place_of(const Mutation& m) {
  using enum Mutation::Kind;
  const bool chosen = m.kind == size || m.kind == list || m.kind == text || m.kind == dtypes;
  return {static_cast<Int>(m.kind), m.n[0], chosen ? m.n[1] : 0};
}

// Valid calls one change away, the smallest for each place of a change: empty ones, with other flags, without optional
// tensors, of another dtype. In them other conditions hold than in the call.
std::vector<std::vector<Value>> variants(const Operator& op, const std::vector<Value>& arguments) {
  using enum Mutation::Kind;
  std::vector<Mutation> changes = all_changes(op, arguments);
  for (Int k = 0; k < most_sizes; ++k)
    for (Int n = 0; n < most_sizes; ++n) changes.push_back({sizes, {k, n, 0}});
  std::map<std::array<Int, 3>, std::vector<Value>> smallest;
  for (const Mutation& m : changes) {
    if (m.kind == dtype || m.kind == layout || m.kind == values || m.kind == out) continue;
    std::vector<Value> changed = mutated(op, arguments, m);
    if (say(op, changed).refused) continue;
    const auto [at, is_new] = smallest.try_emplace(place_of(m), changed);
    if (!is_new && bytes_of(changed) < bytes_of(at->second)) at->second = std::move(changed);
  }
  std::vector<std::vector<Value>> all;
  std::set<std::string> seen{fingerprint(op, arguments)};
  for (auto& [place, changed] : smallest)
    if (seen.insert(fingerprint(op, changed)).second) all.push_back(std::move(changed));
  return all;
}

// Calls that break each rule, some of one that is not always asked: a change more, and it may be so of others.
std::vector<std::vector<Value>> breaking(const Operator& op, const std::vector<std::vector<Value>>& calls) {
  std::map<std::string_view, std::size_t> wanted;
  for (const Rule& rule : op.rules)
    wanted[rule.id] = rule.sentence.find(" unless ") != std::string_view::npos ? calls_broken : 1;
  std::vector<std::vector<Value>> broken;
  if (wanted.empty()) return broken;
  constexpr std::size_t strides = 61;
  for (std::size_t begin = 0; begin < strides; ++begin)
    for (std::size_t i = begin; i < calls.size(); i += strides) {
      const auto at = wanted.find(say(op, calls[i]).rule);
      if (at == wanted.end()) continue;
      broken.push_back(calls[i]);
      if (--at->second == 0) wanted.erase(at);
      if (wanted.empty()) return broken;
    }
  return broken;
}

// Whether a fault in the rule may change what is said: not where an earlier rule refuses.
bool concerns(const Operator& op, const Rule& rule, const Saying& said) {
  const auto refusing = std::ranges::find(op.rules, said.rule, &Rule::id);
  return refusing == op.rules.end() || &*refusing >= &rule;
}

}  // namespace

bool Saying::operator==(const Saying& other) const {
  return refused == other.refused && std::ranges::equal(results, other.results, laid_out_alike);
}

Saying say(const Operator& op, std::vector<Value> arguments) {
  const Answer answer = call(op, arguments, Budget({.bytes = Int{1} << 28, .work = Int{1} << 30}), Mode::rules);
  if (answer.outcome != Outcome::ok) return {answer.outcome != Outcome::exhausted, answer.rule, {}};
  return {false, {}, out_tensors(op, arguments)};
}

std::vector<std::vector<Value>> calls_around(const Operator& op, const std::vector<RecordedCall>& recorded) {
  std::vector<std::vector<Value>> calls;
  std::set<std::string> seen;
  std::mt19937_64 random(1);
  const Int bytes = bytes_allowed(recorded);
  const auto add = [&](std::vector<Value> arguments) {
    if (bytes_of(arguments) <= bytes && can_be_asked(op, arguments) && seen.insert(fingerprint(op, arguments)).second)
      calls.push_back(std::move(arguments));
  };
  for (const RecordedCall& c : recorded) add(c.arguments);
  const std::vector<std::vector<Value>> valid = smallest_valid(op, recorded, bytes);
  const std::size_t half = calls_changed / 2, step = std::max<std::size_t>(1, valid.size() / half);
  for (std::size_t i = 0; i < valid.size(); i += i < half ? 1 : step) {
    const std::vector<Mutation> changes = all_changes(op, valid[i]);
    add(valid[i]);
    add_dtypes(valid[i], [&](std::vector<Value> other) {
      if (i < calls_varied)
        for (const Mutation& m : changes)
          if (m.kind == Mutation::Kind::scalar) add(mutated(op, other, m));
      add(std::move(other));
    });
    add_named_dtypes(op, valid[i], add);
    add_outs(op, valid[i], add);
    add_limits(op, valid[i], add);
    for (const Mutation& m : changes) add(mutated(op, valid[i], m));
    if (i < calls_varied)
      for (const std::vector<Value>& variant : variants(op, valid[i])) {
        add(variant);
        add_dtypes(variant, add);
        add_limits(op, variant, add);
        for (const Mutation& m : all_changes(op, variant)) add(mutated(op, variant, m));
      }
    for (std::size_t n = 0; n < pairs_drawn && !changes.empty(); ++n) {
      const auto drawn = [&] { return changes[random() % changes.size()]; };
      add(mutated(op, mutated(op, valid[i], drawn()), drawn()));
    }
  }
  for (std::vector<Value>& broken : breaking(op, calls)) {
    add_dtypes(broken, add);
    for (const Mutation& m : all_changes(op, broken)) add(mutated(op, broken, m));
  }
  std::ranges::stable_sort(calls, {}, bytes_of);
  return calls;
}

void look(const Operator& op, const Rule* rule, std::optional<DType> dtype,
          const std::vector<std::vector<Value>>& calls, const std::vector<Saying>& said,
          const std::vector<std::size_t>& first, std::size_t wanted, Sight& sight) {
  const auto name = [&](const std::string& other) {
    sight.by.fill(0), other.copy(sight.by.data(), sight.by.size() - 1);
  };
  const auto tells = [&](std::size_t i) {
    const bool having = rule && dtype && has(op, *rule, *dtype, calls[i]);
    sight.having += having;
    if (rule && !concerns(op, *rule, said[i])) {
      if (having && sight.before++ == 0) name(said[i].rule);
      return false;
    }
    sight.at[sight.told] = i;
    const Saying now = say(op, calls[i]);
    if (now != said[i]) return elements_of(said[i].results) <= most_elements;
    sight.valid += !now.refused;
    if (now.rule != said[i].rule && sight.masked++ == 0) name(now.rule);
    return false;
  };
  const auto ask = [&](std::size_t i) {
    const auto before = std::span(sight.at).first(sight.told);
    if (sight.told < wanted && std::ranges::count(before, i) == 0) sight.told += tells(i);
  };
  std::ranges::for_each(first, ask);
  // Strides over all of them, so that what tells differs.
  constexpr std::size_t strides = 61;
  for (std::size_t begin = 0; begin < strides; ++begin)
    for (std::size_t i = begin; i < calls.size() && sight.told < wanted; i += strides) ask(i);
}

}  // namespace assay
