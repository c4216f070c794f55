#include "optimized/runtime/table.h"

#include <algorithm>

namespace assay::optimized {
namespace {

// Whether f is true of each number, with its role, that the call takes alone or in a list of integers.
bool all_numbers(const Call& call, bool (*f)(const Value& number, const format::ArgumentRole& role)) {
  using namespace format;
  const auto roles = call.roles->arguments();
  for (std::size_t i = 0; i < roles.size(); ++i) {
    constexpr ArgumentRole element{ArgumentKind::integer, false, Use::read};
    const Value& v = call[i];
    if (v.kind == ValueKind::integers) {
      if (!std::ranges::all_of(v.items(), [&](const Value* item) { return f(*item, element); })) return false;
    } else if (numbers_of(roles[i].kind) != no_number && roles[i].use != Use::written && !f(v, roles[i])) {
      return false;
    }
  }
  return true;
}

std::uint8_t type_of(const Value& v) {
  switch (v.kind) {
    case ValueKind::integer:
      return format::integer;
    case ValueKind::real:
      return format::real;
    case ValueKind::boolean:
      return format::boolean;
    default:
      return format::no_number;
  }
}

}  // namespace

bool keeps_numbers(const Call& call) {
  return all_numbers(call, [](const Value& v, const format::ArgumentRole&) { return !v.changes; });
}

bool has_kinds(const Call& call) {
  return all_numbers(call, [](const Value& v, const format::ArgumentRole& role) {
    return v.kind == ValueKind::none ? role.optional : (type_of(v) & format::numbers_of(role.kind)) != 0;
  });
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
  const char* separator = "";
  for (std::size_t i = 0; i < roles.size(); ++i) {
    using enum format::ArgumentKind;
    const bool is_list = roles[i].kind == tensors || roles[i].kind == optional_tensors;
    if (roles[i].kind != tensor && !is_list) continue;
    to.add(separator).add(is_list ? "[" : "");
    separator = "";
    for (const Value* item : is_list ? call[i].items() : call.arguments.subspan(i, 1))
      to.add(separator), write(item), separator = ", ";
    to.add(is_list ? "]" : "");
    separator = ", ";
  }
}

namespace {

bool takes_fusion(const KernelRow& row, const Call& call) {
  const Fusion* fusion = call.fusion;
  if (row.kernel->takes_codes != (fusion && fusion->codes)) return false;
  return !fusion || (!row.is_loop && (row.kernel->takes_views || fusion->views.empty()));
}

enum class Rows : std::uint8_t { built_for_operands, kernels, loops };

// The first kernel of these rows that accepts the call, or null. A loop of `loops` needs no state.
const Kernel* find(const Call& call, Rows which, std::string_view operands) {
  const auto name = call.roles->name;
  const auto rows = kernel_table();
  const auto is_before = [&](const KernelRow& row) { return row.op.compare(name) < 0; };
  for (auto row = std::partition_point(rows.begin(), rows.end(), is_before); row != rows.end() && row->op == name;
       ++row) {
    const bool takes = which == Rows::built_for_operands ? row->operands.empty() || row->operands == operands
                       : which == Rows::kernels          ? !row->is_loop
                                                         : row->is_loop && !row->kernel->prepare;
    if (takes && takes_fusion(*row, call) && row->kernel->accepts(call)) return row->kernel;
  }
  return nullptr;
}

}  // namespace

// The row may be built for any operands.
const Kernel* find_kernel(const Call& call) { return find(call, Rows::kernels, {}); }
const Kernel* find_kernel(const Call& call, std::string_view operands) {
  return find(call, Rows::built_for_operands, operands);
}
decltype(Step::run) find_loop(const Call& call) {
  const Kernel* loop = find(call, Rows::loops, {});
  return loop ? loop->run : nullptr;
}

}  // namespace assay::optimized
