#include "optimized/rewrite/codes.h"

#include <algorithm>
#include <array>
#include <limits>

#include "optimized/runtime/table.h"
#include "optimized/selection/elements.h"
#include "rewrites.gen.h"

// Two calls that convert the same codes with the same scale have the same result. share_dequantized drops the later
// one.
namespace assay::optimized {
namespace {

using kernels::FakeQuantizer, kernels::Quantizer;

constexpr std::size_t most_codes = 256;

template <class F>
auto with_codes(DType dtype, F f) {
  return dtype == DType::int8 ? f.template operator()<std::int8_t>() : f.template operator()<std::uint8_t>();
}

// The numbers of a call, if each step of its kernel is a step of float32.
std::optional<Codes> codes_of(const Call& call, DType dtype) {
  if (dtype != DType::int8 && dtype != DType::uint8) return {};
  for (std::size_t i = 1; i < 5; ++i)
    if (call[i].changes || call[i].kind != (i == 1 ? ValueKind::real : ValueKind::integer)) return {};
  const double scale = call[1].real;
  const bool is_exact = static_cast<double>(static_cast<float>(scale)) == scale && scale > 0x1p-100 && scale < 0x1p100;
  const std::int64_t zero_point = call[2].integer;
  if (!is_exact || zero_point < -0x10000 || zero_point > 0x10000) return {};
  return Codes{dtype,
               {{static_cast<float>(1 / scale), static_cast<float>(zero_point), static_cast<float>(call[3].integer),
                 static_cast<float>(call[4].integer)},
                static_cast<float>(scale),
                0}};
}

std::optional<Codes> converted(const Draft& draft, const Instruction& p, DType to) {
  if (!draft.is_op(p, "quantized_decomposed::dequantize_per_tensor.out")) return {};
  const Value &input = p.call[0], &out = *p.call.arguments.back();
  if (!out.is_tensor() || out.tensor->moves || out.tensor->dtype != to) return {};
  if (!input.is_tensor() || input.tensor->moves || !find_kernel(p.call)) return {};  // which examines the sizes
  return codes_of(p.call, input.tensor->dtype);
}

template <class Code>
bool clamp_codes_of(FakeQuantizer& q, const Quantizer& again, const Limits& limits, kernels::InstructionSet set) {
  std::array<Code, most_codes + 1> before, after;
  std::array<float, most_codes + 1> x;
  std::size_t n = 0;
  for (float code = q.low; code <= q.high; ++code) before[n++] = static_cast<Code>(code);
  before[n++] = static_cast<Code>(q.code_of_nan);
  kernels::find_dequantize<Code>(set)(q.zero_point, q.scale, before.data(), x.data(), n);
  kernels::Epilogue clamp;
  clamp.activation = kernels::Activation::clamp, clamp.low = limits.low, clamp.high = limits.high;
  kernels::activate(set, clamp, x.data(), x.data(), n);
  kernels::find_quantize<Code>(set)(again, x.data(), after.data(), n);
  const Code low = after[0], high = after[n - 2];
  for (std::size_t i = 0; i + 1 < n; ++i)
    if (after[i] != std::clamp(before[i], low, high)) return false;
  q.low = low, q.high = high, q.code_of_nan = after[n - 1];
  return true;
}

// Whether b is a call that converts the codes that a converts, into elements with the same places.
bool convert_the_same(const Draft& draft, const Call& a, const Call& b) {
  const Tensor &x = *a.arguments.back()->tensor, &y = *b.arguments.back()->tensor;
  return draft.root(*a.arguments[0]) == draft.root(*b.arguments[0]) && draft.same_elements(a.tensor(0), b.tensor(0)) &&
         draft.same_sizes(x, y) && draft.same_elements(x, y);
}

// Lets the result of call `at` also be the result of the later calls that convert the same codes.
bool share_from(Draft& draft, std::uint32_t at, const Codes& codes) {
  const Call& call = draft.calls[at].call;
  const std::uint32_t from = draft.index_of(call[0]), to = draft.index_of(*call.arguments.back());
  bool changed = false;
  std::uint32_t left = draft.flow.group(from).readers;
  for (std::uint32_t i = at + 1; i < draft.calls.size() && left > 1 && draft.lookups_left > 0; ++i) {
    --draft.lookups_left;
    Instruction& p = draft.calls[i];
    const auto others = dequantized(draft, p);
    if (!others || !codes.have_scale_of(*others) || !convert_the_same(draft, call, p.call)) continue;
    const std::uint32_t v = draft.index_of(*p.call.arguments.back());
    if (!draft.flow.is_private(from) || !draft.flow.is_private(v) || !draft.flow.is_private(to) ||
        draft.flow.group(from).block != draft.flow.group(v).block ||
        draft.flow.place(v).size != draft.flow.place(to).size)
      continue;
    draft.flow.enter(to);  // as if the call had copied the result
    draft.flow.merge(v, to);
    draft.flow.leave(from);
    changed = p.dead = true, p.into = at, --left;
  }
  return changed;
}

bool share_all(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size(); ++i)
    if (const auto codes = dequantized(draft, draft.calls[i])) changed |= share_from(draft, i, *codes);
  return changed;
}

}  // namespace

std::optional<Codes> quantized(const Draft& draft, const Instruction& p) {
  if (!draft.is_op(p, "quantized_decomposed::quantize_per_tensor.out") || !is_f32(p.call[0])) return {};
  const Value& out = *p.call.arguments.back();
  if (!out.is_tensor() || out.tensor->moves || !draft.same_sizes(p.call.tensor(0), *out.tensor) || !find_kernel(p.call))
    return {};
  return codes_of(p.call, out.tensor->dtype);
}

std::optional<Codes> dequantized(const Draft& draft, const Instruction& p) {
  return converted(draft, p, DType::float32);
}

std::optional<Codes> counted(const Draft& draft, const Instruction& p) {
  const auto codes = converted(draft, p, DType::float64);
  return codes && codes->numbers.scale == 1 ? codes : std::nullopt;
}

bool clamp_codes(FakeQuantizer& q, const Codes& again, const Limits& limits, kernels::InstructionSet set) {
  return q.low <= q.high &&
         with_codes(again.dtype, [&]<class Code>() { return clamp_codes_of<Code>(q, again.numbers, limits, set); });
}

std::optional<Limits> limits_of(const Draft& draft, const Instruction& p) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const bool is_relu = draft.is_op(p, "aten::relu.out");
  if (!is_relu && !draft.is_op(p, "aten::hardtanh.out") && !draft.is_op(p, "aten::clamp.out")) return {};
  const DType dtype = p.call.out().dtype;
  if (!draft.is_pointwise_in(dtype, p.call)) return {};
  if (is_relu) return Limits{0, infinity};
  const auto limit = [&](const Value& v, float none) -> std::optional<float> {
    float x;
    if (v.kind == ValueKind::none) return none;
    return !v.changes && rounded_number_as(dtype, v, &x) ? std::optional(x) : std::nullopt;
  };
  const auto low = limit(p.call[1], -infinity), high = limit(p.call[2], infinity);
  if (!low || !high || !(*low <= *high)) return {};
  return Limits{*low, *high};
}

float code_of(const Codes& codes, float x, kernels::InstructionSet set) {
  return with_codes(codes.dtype, [&]<class Code>() {
    Code code;
    kernels::find_quantize<Code>(set)(codes.numbers, &x, &code, 1);
    return static_cast<float>(code);
  });
}

const Rewrite share_dequantized{"share_dequantized", share_all};

}  // namespace assay::optimized
