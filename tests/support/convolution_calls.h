#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include "format/operator_roles.h"
#include "optimized/runtime/kernel.h"
#include "tests/support/fenced_kernels.h"

// Calls of aten::convolution as kernels see them, and their expected results.
namespace assay::optimized {

using kernels::Fenced;
using kernels::random_floats;

inline constexpr std::size_t beyond = most_beyond / sizeof(float);

// The values of a call, as a method holds them.
class Values {
 public:
  Value* tensor(std::vector<std::int32_t> sizes, float* data, bool constant, bool channels_last = false) {
    Entry& e = tensors_.emplace_back(Entry{std::move(sizes), {}, {}});
    for (std::size_t d = 0; d < e.sizes.size(); ++d) e.order.push_back(static_cast<std::uint8_t>(d));
    if (channels_last) e.order = {0, 2, 3, 1};
    e.tensor.data = reinterpret_cast<std::byte*>(data), e.tensor.sizes = e.sizes.data();
    e.tensor.declared = e.sizes.data(), e.tensor.dim_order = e.order.data();
    e.tensor.rank = static_cast<std::uint8_t>(e.sizes.size()), e.tensor.constant = constant;
    Value& v = values_.emplace_back();
    v.kind = ValueKind::tensor, v.tensor = &e.tensor;
    return &v;
  }
  Value* integer(std::size_t n) {
    Value& v = values_.emplace_back();
    v.kind = ValueKind::integer, v.integer = static_cast<std::int64_t>(n);
    return &v;
  }
  Value* integers(std::size_t both) {
    std::vector<Value*>& list = lists_.emplace_back(std::vector{integer(both)});
    Value& v = values_.emplace_back();
    v.kind = ValueKind::integers, v.values = list.data(), v.count = 1;
    return &v;
  }
  Value* no() {
    Value& v = values_.emplace_back();
    v.kind = ValueKind::boolean, v.boolean = false;
    return &v;
  }
  Value* none() { return &values_.emplace_back(); }

 private:
  struct Entry {
    std::vector<std::int32_t> sizes;
    std::vector<std::uint8_t> order;
    Tensor tensor;
  };
  std::deque<Value> values_;
  std::deque<Entry> tensors_;
  std::deque<std::vector<Value*>> lists_;
};

inline const format::OperatorRoles& roles_of(std::string_view op) {
  return *std::ranges::lower_bound(format::all_roles(), op, {}, &format::OperatorRoles::name);
}

inline std::int32_t i32(std::size_t n) { return static_cast<std::int32_t>(n); }

struct ConvolutionCase {
  std::size_t side, inputs, outputs, kernel, stride = 1, padding = 0, dilation = 1, groups = 1;
  bool has_bias = true, is_clamped = false, is_normed = false;
};

// A convolution of two square images. The input ends before a guard page; between them are the bytes that XNNPACK may
// read and ignores.
struct ConvolutionCall {
  explicit ConvolutionCall(const ConvolutionCase& of)
      : c(of),
        reach(c.dilation * (c.kernel - 1) + 1),
        side((c.side + 2 * c.padding - reach) / c.stride + 1),
        channels(c.groups * c.inputs),
        results(c.groups * c.outputs),
        input(2 * c.side * c.side * channels + beyond),
        weight(random_floats(results * c.inputs * c.kernel * c.kernel)),
        bias(random_floats(results)),
        norm(random_floats(4 * results)),
        out(2 * side * side * results) {
    std::ranges::copy(random_floats(2 * c.side * c.side * channels), input.data());
    for (std::size_t i = 0; i < results; ++i) norm.data()[3 * results + i] += 1.5f;  // a variance
    std::ranges::fill_n(out.data(), static_cast<std::ptrdiff_t>(out.values().size()), kernels::nan);
    const std::size_t n = 2;
    const auto constant = [&](float* data) { return values.tensor({i32(results)}, data, true); };
    arguments = {values.tensor({i32(n), i32(channels), i32(c.side), i32(c.side)}, input.data(), false, true),
                 values.tensor({i32(results), i32(c.inputs), i32(c.kernel), i32(c.kernel)}, weight.data(), true),
                 c.has_bias ? constant(bias.data()) : values.none(),
                 values.integers(c.stride),
                 values.integers(c.padding),
                 values.integers(c.dilation),
                 values.no(),
                 values.integers(0),
                 values.integer(c.groups),
                 values.tensor({i32(n), i32(results), i32(side), i32(side)}, out.data(), false, true)};
    float* parameters = norm.data();
    Value* eps = values.none();
    eps->kind = ValueKind::real, eps->real = 0.25;
    parameters_of_norm = {arguments.back(),
                          constant(parameters),
                          constant(parameters + results),
                          constant(parameters + 2 * results),
                          constant(parameters + 3 * results),
                          values.none(),
                          eps};
    if (c.is_normed) fusion.norm = parameters_of_norm;
    if (c.is_clamped) fusion.activation = kernels::Activation::clamp, fusion.low = -0.5f, fusion.high = 0.75f;
    call = {&roles_of("aten::convolution.out"), arguments, nullptr, kernels::best_instruction_set(), true};
    if (c.is_normed || c.is_clamped) call.fusion = &fusion;
  }

  // The exact value of one result, and the bound of its sum. If a norm is folded into the weights, each product has one
  // more rounding.
  std::pair<double, double> expected(std::size_t at) const {
    const std::size_t o = at % results, x = at / results % side, y = at / results / side % side,
                      image = at / results / side / side, group = o / c.outputs;
    double sum = c.has_bias ? bias.data()[o] : 0, magnitude = std::fabs(sum);
    for (std::size_t i = 0; i < c.inputs; ++i)
      for (std::size_t tap = 0; tap < c.kernel * c.kernel; ++tap) {
        const std::size_t row = y * c.stride + tap / c.kernel * c.dilation - c.padding,
                          column = x * c.stride + tap % c.kernel * c.dilation - c.padding;
        if (row >= c.side || column >= c.side) continue;
        const double term = double{weight.data()[(o * c.inputs + i) * c.kernel * c.kernel + tap]} *
                            input.data()[((image * c.side + row) * c.side + column) * channels + group * c.inputs + i];
        sum += term, magnitude += std::fabs(term);
      }
    if (c.is_normed) {
      const float* p = norm.data() + o;
      const double scale = p[0] / std::sqrt(double{p[3 * results]} + 0.25);
      sum = (sum - p[2 * results]) * scale + p[results];
      magnitude = (magnitude + std::fabs(p[2 * results])) * std::fabs(scale) + std::fabs(p[results]);
    }
    if (c.is_clamped) sum = std::clamp(sum, -0.5, 0.75);
    return {sum, 4 * std::sqrt(static_cast<double>(c.inputs * c.kernel * c.kernel + 8)) * 0x1p-24 * magnitude};
  }

  const ConvolutionCase c;
  const std::size_t reach, side, channels, results;
  const Fenced input, weight, bias, norm, out;
  Values values;
  std::vector<Value*> arguments;
  std::array<Value*, 7> parameters_of_norm;
  Fusion fusion;
  Call call;
};

}  // namespace assay::optimized
