#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reference/call.h"

// Compares the answer of the rules before the data are known with the answer of the call itself.
namespace assay {

enum class Known : std::uint8_t { sizes, ranks };  // the facts known of each tensor besides its dtype and dim order

inline void forget(Tensor& tensor, Known known) {
  tensor.bytes.clear();
  if (known == Known::ranks) tensor.sizes = Dims::unknown(tensor.rank());
}

inline void forget(Value& value, Known known) {
  if (Tensor* t = std::get_if<Tensor>(&value)) forget(*t, known);
  if (Tensors* list = std::get_if<Tensors>(&value))
    for (auto& t : *list)
      if (t) forget(*t, known);
}

inline bool same_metadata(const Tensor& a, const Tensor& b) {
  const bool sizes = a.sizes.known() ? a.sizes == b.sizes : a.rank() == b.rank();
  return a.dtype == b.dtype && sizes && a.dim_order == b.dim_order;
}

inline bool same_metadata(const Value& a, const Value& b) {
  if (const Tensor* t = std::get_if<Tensor>(&a)) return same_metadata(*t, std::get<Tensor>(b));
  if (const Tensors* list = std::get_if<Tensors>(&a))
    return std::ranges::equal(*list, std::get<Tensors>(b),
                              [](const auto& x, const auto& y) { return same_metadata(*x, *y); });
  return true;  // a number
}

// Whether an operator may check one rule before another. The order is `.arguments`, `.dtype` of the computation, the
// entry's rules in their order, `.shape`, `.out`, `.dtype` of the values that are read.
inline bool can_come_before(const Operator& op, std::string_view first, std::string_view second) {
  const auto place = [&](std::string_view rule, std::size_t dtype) {
    const std::size_t entry = static_cast<std::size_t>(std::ranges::find(op.rules, rule, &Rule::id) - op.rules.begin());
    if (entry < op.rules.size()) return 2 + entry;
    return rule.ends_with(".arguments") ? 0 : rule.ends_with(".dtype") ? dtype : 2 + entry + rule.ends_with(".out");
  };
  return place(first, 1) <= place(second, 4 + op.rules.size());
}

// How the static answer contradicts the answer of a call with the same arguments, as one sentence; empty if both agree.
// They agree if a refused call is refused statically by the same rule or is undecided before that rule, and if an
// accepted call is accepted with the results that were promised.
inline std::string static_mismatch(const Operator& op, std::vector<Value> arguments, const Answer& given,
                                   std::span<const Value> results, Known known = Known::sizes) {
  for (Value& v : arguments) forget(v, known);
  const Answer answer = call(op, arguments, {}, Mode::rules);
  if (given.outcome == Outcome::exhausted) return {};
  const std::string said = answer.unknown.empty() ? answer.rule : "unknown from " + answer.unknown + " on";
  if (answer.outcome != Outcome::ok)
    return std::pair(answer.outcome, answer.rule) == std::pair(given.outcome, given.rule)
               ? ""
               : concat("the rules refuse it by ", said, ", the call gives '", given.rule, "'");
  if (given.outcome != Outcome::ok) {
    const bool decided = answer.unknown.empty() || !can_come_before(op, answer.unknown, given.rule);
    return decided ? concat("the rules say '", said, "', the call is refused by ", given.rule) : "";
  }
  if (!answer.unknown.empty()) return {};
  for (std::size_t i = arguments.size() - op.outs(); i < arguments.size(); ++i)
    if (!same_metadata(arguments[i], results[i])) return concat("the promised ", op.arguments[i].name, " is another");
  return {};
}

}  // namespace assay
