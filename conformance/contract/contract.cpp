#include "conformance/contract/contract.h"

#include <algorithm>
#include <map>
#include <set>

#include "reference/call.h"

namespace assay::contract {
namespace {

// The column of an argument in the rows of a declaration; at least the length of a row if the declaration omits it.
std::size_t column(const Operator& op, std::size_t argument, const Declaration& d) {
  const std::size_t from_the_back = op.arguments.size() - argument;
  if (op.arguments[argument].out) return d.arguments.size() - from_the_back;
  return static_cast<std::size_t>(std::ranges::find(d.arguments, op.arguments[argument].name) - d.arguments.begin());
}

// The first text of `reason(tensor)` that is not empty; empty if there is none.
std::string first_reason(std::span<const Value> arguments, const auto& reason) {
  std::string first;
  cases::each_tensor(arguments, [&](const Tensor& t, std::size_t) {
    if (first.empty()) first = reason(t);
  });
  return first;
}

// Null if no promise has the operator.
template <class Promise>
const Promise* first_for(const std::vector<Promise>& promises, const Operator& op) {
  const auto at = std::ranges::find_if(promises, [&](const Promise& p) { return p.operators.has(op); });
  return at == promises.end() ? nullptr : &*at;
}

bool one_of(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

bool one_layout(std::span<const Value> arguments) {
  std::set<std::string> layouts;
  cases::each_tensor(arguments, [&](const Tensor& t, std::size_t) { layouts.insert(cases::layout_name(t)); });
  return layouts.size() <= 1;
}

std::vector<Dims> dim_orders(std::span<const Value> arguments, std::size_t outs) {
  std::vector<Dims> all;
  cases::each_tensor(arguments.last(outs), [&](const Tensor& t, std::size_t) { all.push_back(t.dim_order); });
  return all;
}

// Requires all arguments of the schema. True if the entry states the dim order of each out, or if the call breaks a
// rule.
bool outs_follow_layout_rule(const Operator& op, std::span<const Value> arguments) {
  std::vector<Value> by_rule(arguments.begin(), arguments.end());
  std::ranges::fill(std::span(by_rule).last(op.outs()), Value());
  const Answer answer = call(op, by_rule, {}, Mode::rules);
  if (answer.outcome != Outcome::ok || !answer.unknown.empty()) return true;
  return dim_orders(by_rule, op.outs()) == dim_orders(arguments, op.outs());
}

}  // namespace

bool Operators::has(const Operator& op) const { return !names || names->contains(op.name); }

bool Declaration::has(const Operator& op, std::span<const Value> values) const {
  const auto fits = [&](const std::vector<std::uint8_t>& row) {
    std::vector<DTypes> left = sets;
    bool all = true;
    cases::each_tensor(values, [&](const Tensor& t, std::size_t i) {
      const std::size_t at = column(op, i, *this);
      if (at >= row.size()) return;
      DTypes& set = left[row[at]];
      const auto dtype = static_cast<std::size_t>(t.dtype);
      all = all && set.test(dtype);
      set = DTypes().set(dtype);
    });
    return all;
  };
  return std::ranges::any_of(rows, fits);
}

DTypes Declaration::dtypes_of(const Operator& op, std::size_t argument) const {
  const std::size_t at = column(op, argument, *this);
  DTypes all;
  for (const std::vector<std::uint8_t>& row : rows)
    if (at < row.size()) all |= sets[row[at]];
  return all;
}

bool inputs_share_layouts(const Operator& op, std::span<const Value> arguments) {
  std::map<int, Dims> by_rank;  // the dim order of the first input of each rank
  bool all = true;
  cases::each_tensor(arguments, [&](const Tensor& t, std::size_t i) {
    if (!op.arguments[i].out) all = all && by_rank.try_emplace(t.rank(), t.dim_order).first->second == t.dim_order;
  });
  return all;
}

bool outs_have_stated_layouts(const Operator& op, std::span<const Value> arguments) {
  return arguments.size() < op.arguments.size() || one_layout(arguments) || outs_follow_layout_rule(op, arguments);
}

std::string LayoutPromise::excludes(const Operator& op, std::span<const Value> arguments) const {
  const std::string layout = first_reason(arguments, [&](const Tensor& t) {
    const std::string name = cases::layout_name(t);
    return one_of(allowed, name) ? "" : concat("the layout ", name);
  });
  if (!layout.empty()) return layout;
  const bool is_allowed = (!shared_inputs || inputs_share_layouts(op, arguments)) &&
                          (!stated_outs || outs_have_stated_layouts(op, arguments));
  return is_allowed ? "" : "tensors of different dim orders";
}

judge::Refusals Contract::allowed_refusals(bool promised) const {
  if (!promised) return judge::Refusals::all;
  return allows_unsupported ? judge::Refusals::unsupported : judge::Refusals::none;
}

std::string Contract::excluded_type(const Operator& op, std::span<const Value> arguments) const {
  if (!operators.has(op)) return "the operator";
  const RankPromise* rank = first_for(ranks, op);
  std::string reason = first_reason(arguments, [&](const Tensor& t) -> std::string {
    if (dtypes && !dtypes->test(static_cast<std::size_t>(t.dtype))) return concat("the dtype ", t.dtype);
    return rank && t.rank() > rank->most ? concat("the rank ", t.rank()) : "";
  });
  const LayoutPromise* layout = first_for(layouts, op);
  if (reason.empty() && layout) reason = layout->excludes(op, arguments);
  const auto declared = declarations.find(op.name);
  if (reason.empty() && declared != declarations.end() && !declared->second.has(op, arguments))
    reason = "this combination of dtypes";
  return reason;
}

Promise Contract::promise(const Operator& op, const cases::HostCall& call) const {
  if (slices.empty() && excluded.empty()) return {{}, promises_types(op, call.arguments)};
  return promise(op, call, features::features_of(op, call));
}

Promise Contract::promise(const Operator& op, const cases::HostCall& call, const features::Features& features) const {
  Promise s;
  for (const CaseSlice& slice : slices)
    if (slice.has(features)) s.slices.push_back(slice.name);
  const auto holds = [&](features::Phrase flag) { return features.has(flag); };
  const auto is_excluded = [&](const Exclusion& e) {
    return e.operators.has(op) && std::ranges::all_of(e.when, holds) && std::ranges::none_of(e.unless, holds);
  };
  const auto is_promised = [&](const std::string& slice) { return one_of(*promised_slices, slice); };
  s.promised = promises_types(op, call.arguments) && std::ranges::none_of(excluded, is_excluded) &&
               (!promised_slices || std::ranges::all_of(s.slices, is_promised));
  return s;
}

}  // namespace assay::contract
