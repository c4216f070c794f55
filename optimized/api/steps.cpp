#include <algorithm>

#include "optimized/api/types.h"
#include "optimized/draft/draft.h"
#include "optimized/runtime/table.h"

// The part of the C interface that tells which steps a method has. It is a file of its own, so that only clients that
// use it link it.

using namespace assay;
using namespace assay::optimized;

namespace {

// Step i of a method; after its steps come the calls that were computed once. Null if there is no step i.
const Step* find_step(const assay_method* method, size_t i) {
  const auto steps = method_of(method).steps(), folded = method_of(method).folded();
  if (i < steps.size()) return &steps[i];
  return i - steps.size() < folded.size() ? &folded[i - steps.size()] : nullptr;
}

}  // namespace

size_t assay_step_count(const assay_method* method) { return method_of(method).steps().size(); }
size_t assay_next_step(const assay_method* method) { return method_of(method).next_step(); }
size_t assay_folded_step_count(const assay_method* method) { return method_of(method).folded().size(); }

assay_step_info assay_step_at(const assay_method* method, size_t i) {
  const Step* found = find_step(method, i);
  if (!found) return {.op = "", .kernel = "", .activation = ""};
  const Step& step = *found;
  const std::string_view op = step.call.roles ? step.call.roles->name : std::string_view();
  const Fusion* fusion = step.call.fusion;
  constexpr const char* activations[] = {"",     "clamp", "hardsigmoid", "hardswish",    "sigmoid",
                                         "silu", "gelu",  "gelu_tanh",   "fake_quantize"};
  return {step.instruction,
          op.data(),
          op.size(),
          step.by,
          fusion && !fusion->norm.empty(),
          fusion && fusion->residual,
          fusion && fusion->safe,
          fusion && fusion->unread,
          fusion ? activations[static_cast<int>(fusion->activation)] : "",
          fusion && fusion->attention,
          fusion && std::ranges::any_of(fusion->views, [](const View* view) { return view; })};
}

const char* assay_rewrite_at(const assay_method* method, size_t i) {
  const auto all = method_of(method).rewrites();
  return i < all.size() ? all[i]->name : nullptr;
}

void assay_step_operands(const assay_method* method, size_t i, char* text, size_t size) {
  if (size == 0) return;
  const Step* step = find_step(method, i);
  const Call call = step ? step->call : Call();
  format::Text operands;
  if (call.roles) write_operands(call, operands);
  const std::size_t n = std::min(operands.view().size(), size - 1);
  std::copy_n(operands.view().data(), n, text);
  text[n] = 0;
}

size_t assay_instruction_count(const assay_method* method) { return method_of(method).step_of().size(); }

size_t assay_step_of(const assay_method* method, size_t instruction) {
  const auto steps = method_of(method).step_of();
  const std::uint32_t step = instruction < steps.size() ? steps[instruction] : Method::no_step;
  return step == Method::no_step ? SIZE_MAX : step;
}
