#include "proof/mutation/search.h"

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
#include "proof/mutation/entry_switches.h"
#include "reference/call.h"

namespace assay::mutation {
namespace {

constexpr std::size_t calls_changed = 16;  // for an operator: the smallest that have elements, and others
constexpr std::size_t calls_varied = 4;    // the first of these, whose variants are changed, too
constexpr std::size_t pairs_drawn = 400;   // of changes of each of these calls
// The most bytes of a call to record, or twice the bytes of the smallest call.
constexpr Int most_bytes = 512;
constexpr std::size_t calls_broken = 6;  // the number of calls that break a rule with `unless` and are changed again
// Of all results of a call for eager PyTorch; larger results are not recorded.
constexpr Int most_elements = 2000;
constexpr Int most_sizes = 8;  // distinct sizes of a call, and lengths that each becomes

Int bytes_of(const Arguments& arguments) {
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
bool can_be_asked(const Operator& op, const Arguments& arguments) {
  const auto is_known = [](DType dtype) { return std::ranges::count(dtype_orders::recorded, dtype) > 0; };
  bool known = true;
  each_tensor(arguments, [&](const Tensor& t, std::size_t) { known &= is_known(t.dtype); });
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const Int* n = std::get_if<Int>(&arguments[i]); n && names_dtype(op.arguments[i]))
      known &= is_known(static_cast<DType>(*n));
  return known;
}

// Whether an argument of the rule has the dtype, or names it. Where an operator has no other tensors, outs count.
bool has(const Operator& op, const Rule& rule, DType dtype, const Arguments& arguments) {
  std::vector<std::size_t> arguments_of_rule = subjects(op, rule);
  if (std::ranges::none_of(op.arguments,
                           [](const SchemaArgument& a) { return !a.out && a.type.starts_with("Tensor"); }))
    for (std::size_t i = 0; i < op.arguments.size(); ++i)
      if (op.arguments[i].out) arguments_of_rule.push_back(i);
  return std::ranges::any_of(arguments_of_rule, [&](std::size_t i) {
    const Int* n = std::get_if<Int>(&arguments[i]);
    bool found = n && names_dtype(op.arguments[i]) && static_cast<DType>(*n) == dtype;
    each_tensor(std::span(arguments).subspan(i, 1), [&](const Tensor& t, std::size_t) { found |= t.dtype == dtype; });
    return found;
  });
}

// The most bytes of a call that may be recorded: few, unless all valid calls have more.
Int bytes_allowed(const std::vector<RecordedCall>& recorded) {
  Int least = std::numeric_limits<Int>::max() / 2;
  for (const RecordedCall& c : recorded)
    if (!c.refused) least = std::min(least, bytes_of(c.arguments));
  return recorded.empty() ? most_bytes : std::max(most_bytes, 2 * least);
}

std::vector<Arguments> smallest_valid(const Operator& op, const std::vector<RecordedCall>& recorded, Int bytes) {
  std::vector<Arguments> valid;
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

// Calls f(tensor), which may change it, for each tensor of the call.
template <class F>
void change_each(Arguments& arguments, F f) {
  for (Value& value : arguments) {
    if (Tensor* t = std::get_if<Tensor>(&value)) f(*t);
    if (Tensors* list = std::get_if<Tensors>(&value))
      for (auto& t : *list)
        if (t) f(*t);
  }
}

// The tensor in another dtype. Opaque dtypes cannot be converted: their elements become zero.
Tensor converted(const Tensor& tensor, DType dtype) {
  return info(tensor.dtype).is_opaque() ? make(dtype, tensor.sizes, tensor.dim_order) : cast(tensor, dtype);
}

// Adds the call with one tensor, or all tensors of its dtype, in each other dtype.
template <class Add>
void add_dtypes(const Arguments& arguments, Add add) {
  std::vector<DType> own;
  each_tensor(arguments, [&](const Tensor& t, std::size_t) { own.push_back(t.dtype); });
  for (const DType dtype : dtype_orders::recorded)
    for (std::size_t k = 0; k < own.size(); ++k)
      for (const bool others : {false, true}) {
        Arguments changed = arguments;
        std::size_t i = 0;
        change_each(changed, [&](Tensor& t) {
          if (i == k || (others && own[i] == own[k])) t = converted(t, dtype);
          ++i;
        });
        add(std::move(changed));
      }
}

// Adds the call with one given out in each dtype.
template <class Add>
void add_outs(const Operator& op, const Arguments& arguments, Add add) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const DType dtype : dtype_orders::recorded) {
      if (!op.arguments[i].out || op.arguments[i].type != "Tensor") continue;
      Arguments changed = arguments;
      changed[i] = make(dtype, {0});
      add(std::move(changed));
    }
}

// Adds the call with each other dtype in an argument that names one.
template <class Add>
void add_named_dtypes(const Operator& op, const Arguments& arguments, Add add) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const DType dtype : dtype_orders::recorded) {
      if (!names_dtype(op.arguments[i])) continue;
      Arguments changed = arguments;
      changed[i] = static_cast<Int>(dtype);
      add(std::move(changed));
    }
}

// Adds the call with one integer of a rule's arguments at a limit of the rule, one below it and one above it.
template <class Add>
void add_limits(const Operator& op, const Arguments& arguments, Add add) {
  for (const Rule& rule : op.rules)
    for (const std::string_view word : rule.arguments) {
      Int limit = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), limit).ec != std::errc{}) continue;
      for (const std::size_t argument : subjects(op, rule))
        for (const Line& line : lines_of(op, arguments, argument))
          for (const Int n : {limit - 1, limit, limit + 1}) {
            Arguments changed = arguments;
            if (line.set(changed, n)) add(std::move(changed));
          }
    }
}

std::vector<Mutation> all_changes(const Operator& op, const Arguments& arguments) {
  std::vector<Mutation> changes;
  for (std::size_t argument = 0; argument < op.arguments.size(); ++argument)
    std::ranges::copy(changes_of(op, arguments, argument), std::back_inserter(changes));
  return changes;
}

// The place of a change, and the dtype or word that it chooses, if any.
std::array<Int, 3> place_of(const Mutation& m) {
  using enum Mutation::Kind;
  const bool chosen = m.kind == size || m.kind == list || m.kind == text || m.kind == dtypes;
  return {static_cast<Int>(m.kind), m.n[0], chosen ? m.n[1] : 0};
}

// Valid calls one change away, the smallest for each place of a change: empty tensors, other flags, no optional
// tensors, another dtype. Other conditions hold in them than in the call.
std::vector<Arguments> variants(const Operator& op, const Arguments& arguments) {
  using enum Mutation::Kind;
  std::vector<Mutation> changes = all_changes(op, arguments);
  for (Int k = 0; k < most_sizes; ++k)
    for (Int n = 0; n < most_sizes; ++n) changes.push_back({sizes, {k, n, 0}});
  std::map<std::array<Int, 3>, Arguments> smallest;
  for (const Mutation& m : changes) {
    if (m.kind == dtype || m.kind == layout || m.kind == values || m.kind == out) continue;
    Arguments changed = mutated(op, arguments, m);
    if (ask_rules(op, changed).refused) continue;
    const auto [at, is_new] = smallest.try_emplace(place_of(m), changed);
    if (!is_new && bytes_of(changed) < bytes_of(at->second)) at->second = std::move(changed);
  }
  std::vector<Arguments> all;
  std::set<std::string> seen{fingerprint(op, arguments)};
  for (auto& [place, changed] : smallest)
    if (seen.insert(fingerprint(op, changed)).second) all.push_back(std::move(changed));
  return all;
}

// Calls f(i) for each i below `size` until it returns false, in strides: neighbours are alike.
template <class F>
void in_strides(std::size_t size, F f) {
  constexpr std::size_t strides = 61;
  for (std::size_t begin = 0; begin < strides; ++begin)
    for (std::size_t i = begin; i < size; i += strides)
      if (!f(i)) return;
}

// Calls that break each rule; more calls for a rule with `unless`, whose condition another change may meet.
std::vector<Arguments> breaking(const Operator& op, const std::vector<Arguments>& calls) {
  std::map<std::string_view, std::size_t> wanted;
  for (const Rule& rule : op.rules)
    wanted[rule.id] = rule.sentence.find(" unless ") != std::string_view::npos ? calls_broken : 1;
  std::vector<Arguments> broken;
  in_strides(calls.size(), [&](std::size_t i) {
    if (const auto at = wanted.find(ask_rules(op, calls[i]).rule); at != wanted.end()) {
      broken.push_back(calls[i]);
      if (--at->second == 0) wanted.erase(at);
    }
    return !wanted.empty();
  });
  return broken;
}

// Whether a mutant of the rule can change the answer: not where an earlier rule refuses.
bool concerns(const Operator& op, const Rule& rule, const RulesAnswer& said) {
  const auto refusing = std::ranges::find(op.rules, said.rule, &Rule::id);
  return refusing == op.rules.end() || &*refusing >= &rule;
}

}  // namespace

bool RulesAnswer::operator==(const RulesAnswer& other) const {
  return refused == other.refused && std::ranges::equal(results, other.results, laid_out_alike);
}

RulesAnswer ask_rules(const Operator& op, Arguments arguments) {
  const Answer answer = call(op, arguments, Budget({.bytes = Int{1} << 28, .work = Int{1} << 30}), Mode::rules);
  if (answer.outcome != Outcome::ok) return {answer.outcome != Outcome::exhausted, answer.rule, {}};
  return {false, {}, out_tensors(op, arguments)};
}

std::vector<Arguments> calls_around(const Operator& op, const std::vector<RecordedCall>& recorded) {
  std::vector<Arguments> calls;
  std::set<std::string> seen;
  std::mt19937_64 random(1);
  const Int bytes = bytes_allowed(recorded);
  const auto add = [&](Arguments arguments) {
    if (bytes_of(arguments) <= bytes && can_be_asked(op, arguments) && seen.insert(fingerprint(op, arguments)).second)
      calls.push_back(std::move(arguments));
  };
  for (const RecordedCall& c : recorded) add(c.arguments);
  const std::vector<Arguments> valid = smallest_valid(op, recorded, bytes);
  const std::size_t half = calls_changed / 2, step = std::max<std::size_t>(1, valid.size() / half);
  for (std::size_t i = 0; i < valid.size(); i += i < half ? 1 : step) {
    const std::vector<Mutation> changes = all_changes(op, valid[i]);
    add(valid[i]);
    add_dtypes(valid[i], [&](Arguments other) {
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
      for (const Arguments& variant : variants(op, valid[i])) {
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
  for (Arguments& broken : breaking(op, calls)) {
    add_dtypes(broken, add);
    for (const Mutation& m : all_changes(op, broken)) add(mutated(op, broken, m));
  }
  std::ranges::stable_sort(calls, {}, bytes_of);
  return calls;
}

void search(const Operator& op, const Rule* rule, std::optional<DType> dtype, const std::vector<Arguments>& calls,
            const std::vector<RulesAnswer>& answers, const std::vector<std::size_t>& first, std::size_t wanted,
            Evidence& e) {
  const auto name = [&](const std::string& other) { e.by.fill(0), other.copy(e.by.data(), e.by.size() - 1); };
  const auto tells = [&](std::size_t i) {
    const bool has_dtype = rule && dtype && has(op, *rule, *dtype, calls[i]);
    e.with_dtype += has_dtype;
    if (rule && !concerns(op, *rule, answers[i])) {
      if (has_dtype && e.refused_before++ == 0) name(answers[i].rule);
      return false;
    }
    e.at[e.telling] = i;
    const RulesAnswer now = ask_rules(op, calls[i]);
    if (now != answers[i]) return elements_of(answers[i].results) <= most_elements;
    e.valid += !now.refused;
    if (now.rule != answers[i].rule && e.masked++ == 0) name(now.rule);
    return false;
  };
  const auto ask = [&](std::size_t i) {
    const auto before = std::span(e.at).first(e.telling);
    if (e.telling < wanted && std::ranges::count(before, i) == 0) e.telling += tells(i);
  };
  std::ranges::for_each(first, ask);
  in_strides(calls.size(), [&](std::size_t i) { return ask(i), e.telling < wanted; });
}

}  // namespace assay::mutation
