#include "conformance/testees/executorch/profile.h"

#include <algorithm>
#include <vector>

#include "executorch_profile.gen.h"

namespace assay::executorch_kernels::profile {
namespace {

struct Operand {
  const Tensor* tensor;
  std::size_t column;  // of a declaration's rows; past the last one where it does not speak of the argument
};

std::size_t column(const Operator& op, std::size_t argument, const Declaration* d) {
  if (!d) return 0;
  const std::size_t from_the_back = op.arguments.size() - argument;
  if (op.arguments[argument].out) return d->arguments.size() - from_the_back;
  return static_cast<std::size_t>(std::ranges::find(d->arguments, op.arguments[argument].name) - d->arguments.begin());
}

std::vector<Operand> operands(const Operator& op, std::span<const Value> arguments, const Declaration* d) {
  std::vector<Operand> all;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const Tensor* t = std::get_if<Tensor>(&arguments[i])) all.push_back({t, column(op, i, d)});
    if (const Tensors* list = std::get_if<Tensors>(&arguments[i]))
      for (const auto& t : *list)
        if (t) all.push_back({&*t, column(op, i, d)});
  }
  return all;
}

bool holds(DTypes set, DType dtype) { return (set >> static_cast<int>(dtype) & 1) != 0; }

bool matches(const Declaration& d, std::span<const std::uint8_t> row, std::span<const Operand> operands) {
  std::vector<DTypes> left(d.sets.begin(), d.sets.end());
  for (const Operand& o : operands) {
    if (o.column >= row.size()) continue;
    DTypes& set = left[row[o.column]];
    if (!holds(set, o.tensor->dtype)) return false;
    set = DTypes{1} << static_cast<int>(o.tensor->dtype);
  }
  return true;
}

bool declared(const Declaration& d, std::span<const Operand> operands) {
  const std::size_t width = d.arguments.size();
  for (std::size_t at = 0; at < d.rows.size(); at += width)
    if (matches(d, d.rows.subspan(at, width), operands)) return true;
  return false;
}

bool contiguous(const Operand& o) { return o.tensor->dim_order == Dims::counting(o.tensor->rank()); }

bool channels_last(const Operand& o) {
  return o.tensor->dim_order == Dims{0, 2, 3, 1} || o.tensor->dim_order == Dims{0, 2, 3, 4, 1};
}

bool states_layouts(const Operator& op, std::span<const Operand> operands) {
  if (std::ranges::find(changes_dim_order, op.name) != std::end(changes_dim_order))
    return std::ranges::all_of(operands, [](const Operand& o) { return contiguous(o) || channels_last(o); });
  return std::ranges::all_of(operands, contiguous) || std::ranges::all_of(operands, channels_last);
}

}  // namespace

bool states(const Operator& op, std::span<const Value> arguments) {
  const auto* found = std::ranges::lower_bound(declarations, op.name, {}, &Declaration::name);
  const Declaration* d = found != std::end(declarations) && found->name == op.name ? found : nullptr;
  const std::vector<Operand> all = operands(op, arguments, d);
  const bool legal_dtypes = std::ranges::all_of(all, [](const Operand& o) { return holds(legal, o.tensor->dtype); });
  return legal_dtypes && (!d || declared(*d, all)) && states_layouts(op, all);
}

}  // namespace assay::executorch_kernels::profile
