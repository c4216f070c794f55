#include "reference/operator.h"

#include <algorithm>
#include <string>

#include "reference/functional.h"

namespace assay {
namespace {

// The row with that name in a table sorted by name, or null.
template <class Row>
const Row* find_named(std::span<const Row> all, std::string_view name) {
  const auto at = std::ranges::lower_bound(all, name, {}, &Row::name);
  return at != all.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

std::size_t Operator::outs() const {
  return static_cast<std::size_t>(std::ranges::count_if(arguments, &SchemaArgument::out));
}

std::size_t Operator::mutated() const {
  return static_cast<std::size_t>(std::ranges::count_if(arguments, &SchemaArgument::mutated));
}

std::size_t Operator::new_value_of(std::size_t i) const {
  const auto at = std::ranges::find(arguments, std::string(arguments[i].name) + "_out", &SchemaArgument::name);
  return static_cast<std::size_t>(at - arguments.begin());
}

const Operator* find_operator(std::string_view name) {
  const Operator* op = find_named(operator_table(), name);
  return op ? op : find_named(in_place_table(), name);
}

const FunctionalForm* find_functional(std::string_view name) { return find_named(functional_table(), name); }

Accuracy accuracy(const Operator& op, int output, DType dtype) {
  for (const AccuracyRow& row : op.accuracy) {
    const bool free =
        row.accuracy.measure == Accuracy::Measure::unspecified || row.accuracy.measure == Accuracy::Measure::choice;
    const bool applies = !row.dtype ? is_floating(dtype) || is_complex(dtype) || free : *row.dtype == dtype;
    if ((row.output < 0 || row.output == output) && applies) return row.accuracy;
  }
  return {};
}

}  // namespace assay
