#include "tools/plant/search.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <set>

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
constexpr std::size_t pairs_drawn = 400;   // of changes of each of these
constexpr Int most_bytes = 512;            // of a call that may be recorded

Int bytes_of(const std::vector<Value>& arguments) {
  Int bytes = 0;
  each_tensor(arguments, [&](const Tensor& t, std::size_t) { bytes += std::ssize(t.bytes); });
  return bytes;
}

// Whether eager has all dtypes of the call's tensors.
bool can_be_asked(const std::vector<Value>& arguments) {
  bool known = true;
  each_tensor(arguments,
              [&](const Tensor& t, std::size_t) { known &= std::ranges::count(planted_dtypes, t.dtype) > 0; });
  return known;
}

std::vector<std::vector<Value>> smallest_valid(const Operator& op, const std::vector<RecordedCall>& recorded) {
  std::vector<std::vector<Value>> valid;
  for (const RecordedCall& c : recorded) {
    if (c.refused || bytes_of(c.arguments) > most_bytes) continue;
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

Tensor converted(const Tensor& tensor, DType dtype) {
  Tensor other = make(dtype, tensor.sizes, tensor.dim_order);
  write(read<Real>(tensor), other);
  return other;
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

}  // namespace

bool Saying::operator==(const Saying& other) const {
  return refused == other.refused && std::ranges::equal(results, other.results, laid_out_alike);
}

Saying say(const Operator& op, std::vector<Value> arguments) {
  const Answer answer = call(op, arguments, Budget({.bytes = Int{1} << 28, .work = Int{1} << 30}), Mode::rules);
  if (answer.outcome != Outcome::ok) return {true, answer.rule, {}};
  return {false, {}, out_tensors(op, arguments)};
}

std::vector<std::vector<Value>> calls_around(const Operator& op, const std::vector<RecordedCall>& recorded) {
  std::vector<std::vector<Value>> calls;
  std::set<std::string> seen;
  std::mt19937_64 random(1);
  const auto add = [&](std::vector<Value> arguments) {
    if (bytes_of(arguments) <= most_bytes && can_be_asked(arguments) && seen.insert(fingerprint(op, arguments)).second)
      calls.push_back(std::move(arguments));
  };
  const std::vector<std::vector<Value>> valid = smallest_valid(op, recorded);
  const std::size_t half = calls_changed / 2, step = std::max<std::size_t>(1, valid.size() / half);
  for (std::size_t i = 0; i < valid.size(); i += i < half ? 1 : step) {
    add(valid[i]);
    add_dtypes(valid[i], add);
    std::vector<Mutation> changes;
    for (std::size_t argument = 0; argument < op.arguments.size(); ++argument)
      std::ranges::copy(changes_of(op, valid[i], argument), std::back_inserter(changes));
    for (const Mutation& m : changes) add(mutated(op, valid[i], m));
    for (std::size_t n = 0; n < pairs_drawn && !changes.empty(); ++n) {
      const auto drawn = [&] { return changes[random() % changes.size()]; };
      add(mutated(op, mutated(op, valid[i], drawn()), drawn()));
    }
  }
  std::ranges::stable_sort(calls, {}, bytes_of);
  return calls;
}

void look(const Operator& op, const std::vector<std::vector<Value>>& calls, const std::vector<Saying>& said,
          const std::vector<std::size_t>& first, Sight& sight) {
  const auto tells = [&](std::size_t i) {
    sight.at = i;
    const Saying now = say(op, calls[i]);
    if (now != said[i]) return true;
    sight.valid += !now.refused;
    if (now.rule != said[i].rule && sight.masked++ == 0) now.rule.copy(sight.by.data(), sight.by.size() - 1);
    return false;
  };
  sight.told = std::ranges::any_of(first, tells);
  for (std::size_t i = 0; i < calls.size() && !sight.told; ++i) sight.told = tells(i);
}

}  // namespace assay
