#include "optimized/runtime/table.h"

#include <algorithm>

namespace assay::optimized {
namespace {

bool is_number(ValueKind kind) { return kind >= ValueKind::integer && kind <= ValueKind::boolean; }

bool is_of(const Value& v, const format::ArgumentRole& role) {
  using format::ArgumentKind;
  if (v.kind == ValueKind::none) return role.optional || role.kind == ArgumentKind::number;  // a number may come later
  const auto all_tensors = [&](bool or_none) {
    return v.kind == ValueKind::tensors && std::ranges::all_of(v.items(), [&](const Value* item) {
             return item && item->kind != ValueKind::none ? item->kind == ValueKind::tensor : or_none;
           });
  };
  switch (role.kind) {
    case ArgumentKind::tensor:
      return v.kind == ValueKind::tensor;
    case ArgumentKind::tensors:
      return all_tensors(false);
    case ArgumentKind::optional_tensors:
      return all_tensors(true);
    case ArgumentKind::number:
      return is_number(v.kind);
    case ArgumentKind::integers:
      return v.kind == ValueKind::integers;
    case ArgumentKind::doubles:
      return v.kind == ValueKind::reals;
    case ArgumentKind::bools:
      return v.kind == ValueKind::booleans;
    case ArgumentKind::string:
      return v.kind == ValueKind::string;
  }
  return false;
}

}  // namespace

bool has_kinds(const Call& call) {
  const auto roles = call.roles->arguments();
  if (roles.size() != call.arguments.size()) return false;
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (!call.arguments[i] || !is_of(*call.arguments[i], roles[i])) return false;
  return true;
}

void write_operands(const Call& call, format::Text& to) {
  const auto write = [&](const Value* v) {
    if (!v || v->kind != ValueKind::tensor) return static_cast<void>(to.add("none"));
    static constexpr std::uint8_t channels_last[] = {0, 2, 3, 1};
    const Tensor& t = *v->tensor;
    to.add(find_dtype(static_cast<int>(t.dtype))->name);
    if (!t.is_contiguous())
      to.add(std::equal(t.dim_order, t.dim_order + t.rank, channels_last, channels_last + 4) ? " channels last"
                                                                                             : " in another order");
  };
  const auto roles = call.roles->arguments();
  std::string_view separator;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    using enum format::ArgumentKind;
    const bool lists = roles[i].kind == tensors || roles[i].kind == optional_tensors;
    if (roles[i].kind != tensor && !lists) continue;
    to.add(separator);
    separator = ", ";
    if (!lists) {
      write(call.arguments[i]);
      continue;
    }
    to.add('[');
    std::string_view between;
    for (const Value* item : call[i].items()) to.add(between), write(item), between = ", ";
    to.add(']');
  }
}

namespace {

bool has_views(const Call& call) { return call.fusion && !call.fusion->views.empty(); }

// `operands`: null for any.
const Kernel* find(const Call& call, const std::string_view* operands) {
  if (!has_kinds(call)) return nullptr;
  const auto rows = kernel_table();
  for (auto row = std::ranges::lower_bound(rows, call.roles->name, {}, &KernelRow::op);
       row != rows.end() && row->op == call.roles->name; ++row)
    if ((!operands || row->operands.empty() || row->operands == *operands) &&
        (row->kernel->takes_views || !has_views(call)) && row->kernel->accepts(call))
      return row->kernel;
  return nullptr;
}

}  // namespace

const Kernel* find_kernel(const Call& call) { return find(call, nullptr); }
const Kernel* find_kernel(const Call& call, std::string_view operands) { return find(call, &operands); }

}  // namespace assay::optimized
