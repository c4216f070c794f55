#include "optimized/runtime/handles.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace assay::optimized {
namespace {

using format::Place;

// The sizes of a view. One of them may be -1: it gets the elements that are left.
bool view_sizes(const Tensor& self, std::span<Value* const> size, std::span<std::int32_t> sizes) {
  std::int64_t known = 1;
  int open = -1;
  for (std::size_t d = 0; d < size.size(); ++d) {
    const std::int64_t n = size[d]->integer;
    if (n > std::numeric_limits<std::int32_t>::max() || n < -1 || (n == -1 && open >= 0)) return false;
    if (n == -1)
      open = static_cast<int>(d);
    else if (__builtin_mul_overflow(known, n, &known))
      return false;
    sizes[d] = static_cast<std::int32_t>(n);
  }
  const std::int64_t count = self.count();
  if (open < 0) return known == count;
  if (known == 0 || count % known != 0) return false;
  sizes[static_cast<std::size_t>(open)] = static_cast<std::int32_t>(count / known);
  return true;
}

// et_view(self, size, out): out becomes self's memory with other sizes.
bool run_view(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.tensor(2);
  std::int32_t sizes[max_rank];
  const auto wanted = step.call[1].items();
  if (!std::ranges::all_of(wanted, [](const Value* v) { return v->kind == ValueKind::integer; }))
    return refuse(*execution.fault, "V3", "a list of integers has a value that is not an integer");
  if (wanted.size() > max_rank || !view_sizes(self, wanted, sizes))
    return refuse(*execution.fault, "I11", "a view cannot have these sizes");
  if (out.dtype != self.dtype) return refuse(*execution.fault, "I11", "a view must have the dtype of its base");
  Tensor viewed = out;
  viewed.capacity = std::max(out.capacity, self.bytes());
  if (!resize(viewed, {sizes, wanted.size()}))
    return refuse(*execution.fault, "T24", "result cannot have the sizes of the view");
  out.data = self.data;
  return true;
}

// et_copy_index(copy_to, copy_from, index): copy_to gets at least index + 1 rows; copy_from becomes row `index`.
bool run_copy_index(const Step& step, Execution& execution) {
  Tensor& to = step.call.tensor(0);
  const Tensor& from = step.call.tensor(1);
  const Value& index = step.call[2];
  if (index.kind != ValueKind::integer || index.integer < 0 ||
      index.integer >= std::numeric_limits<std::int32_t>::max() || to.dtype != from.dtype || from.rank >= max_rank)
    return refuse(*execution.fault, "I11",
                  "et_copy_index requires rows with the dtype of copy_to and an index that is not negative");
  std::int32_t sizes[max_rank];
  sizes[0] = static_cast<std::int32_t>(index.integer + 1);
  std::copy_n(from.sizes, from.rank, sizes + 1);
  if (!to.moves && to.rank == from.rank + 1) sizes[0] = std::max(sizes[0], to.declared[0]);
  if (!resize(to, {sizes, from.rank + std::size_t{1}}))
    return refuse(*execution.fault, rule_of_sizes(to, from.rank + std::size_t{1}, "T24"),
                  "copy_to cannot have this many rows");
  const auto n = static_cast<std::size_t>(from.bytes());
  std::memmove(to.data + static_cast<std::size_t>(index.integer) * n, from.data, n);
  return true;
}

constexpr Handle handles[] = {{"executorch_prim::et_copy_index.tensor", run_copy_index},
                              {"executorch_prim::et_view.default", run_view}};

bool is_true(const Value& value, Execution& execution, bool& answer) {
  if (value.kind == ValueKind::boolean) return answer = value.boolean, true;
  if (value.kind != ValueKind::tensor || value.tensor->dtype != DType::boolean)
    return refuse(*execution.fault, "I15", "the condition must be a bool");
  const auto* bytes = value.tensor->elements<std::uint8_t>();
  answer = std::all_of(bytes, bytes + value.tensor->count(), [](std::uint8_t b) { return b != 0; });
  return true;
}

}  // namespace

const Handle* find_handle(std::string_view op) {
  const auto* found = std::ranges::find(handles, op, &Handle::op);
  return found == std::end(handles) ? nullptr : found;
}

void hand_over(const Value& from, Value& to) {
  const bool changes = to.changes;
  to = from, to.changes = changes;
}

bool run_move(const Step& step, Execution&) {
  hand_over(*step.call.arguments[0], *step.call.arguments[1]);
  return true;
}

bool run_jump(const Step& step, Execution& execution) {
  bool answer = false;
  if (!is_true(step.call[0], execution, answer)) return false;
  if (!answer) execution.next = *static_cast<const std::uint32_t*>(step.state);
  return true;
}

}  // namespace assay::optimized
