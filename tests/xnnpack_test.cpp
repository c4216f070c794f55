#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>

#include "conformance/testees/optimized/step.h"
#include "format/roles.h"
#include "optimized/operators/convolution_call.h"
#include "optimized/xnnpack/kernels.h"
#include "optimized/xnnpack/threads.h"
#include "reference/fault.h"
#include "tests/fenced_kernels.h"

// XNNPACK's kernels against double evaluations, in exactly the memory that they ask for.
namespace assay::optimized {
namespace {

using kernels::Fenced;
using kernels::random_floats;

constexpr std::size_t beyond = most_beyond / sizeof(float);

// Values of a call, as a method has them.
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

const format::OperatorRoles& roles_of(std::string_view op) {
  return *std::ranges::lower_bound(format::all_roles(), op, {}, &format::OperatorRoles::name);
}

std::int32_t i32(std::size_t n) { return static_cast<std::int32_t>(n); }

struct Case {
  std::size_t side, inputs, outputs, kernel, stride = 1, padding = 0, dilation = 1, groups = 1;
  bool has_bias = true, is_clamped = false, is_normed = false;
};

// A convolution of two square images, its input between a page that nobody may touch and what it promises to be
// ignored.
struct Convolution {
  explicit Convolution(const Case& of)
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

  // Of one result, and the bound of its sum: each product is rounded once more where a norm is folded into its weight.
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

  const Case c;
  const std::size_t reach, side, channels, results;
  const Fenced input, weight, bias, norm, out;
  Values values;
  std::vector<Value*> arguments;
  std::array<Value*, 7> parameters_of_norm;
  Fusion fusion;
  Call call;
};

void check(const Case& c) {
  SCOPED_TRACE(
      testing::PrintToString(std::vector{c.side, c.inputs, c.outputs, c.kernel, c.stride, c.padding, c.groups}));
  const Convolution convolution(c);
  ASSERT_TRUE(xnnpack::can_convolve(convolution.call));
  LoneStep step(convolution_xnnpack_f32, convolution.call);
  EXPECT_TRUE(convolution.call.tensor(0).read_beyond);
  Fault fault;
  ASSERT_TRUE(step.run(fault));
  const std::vector<float> out = convolution.out.values();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [value, bound] = convolution.expected(i);
    ASSERT_LE(std::fabs(double{out[i]} - value), bound) << i;
  }
  const std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(pthreadpool_create(3), pthreadpool_destroy);
  ASSERT_TRUE(step.run(fault, {3, run_on_pthreadpool, pool.get()}));
  EXPECT_TRUE(kernels::same_bits(convolution.out.values(), out));
}

TEST(Xnnpack, Convolves) {
  for (const std::size_t inputs : {1u, 7u, 24u, 40u})
    for (const std::size_t outputs : {1u, 16u, 35u}) check({7, inputs, outputs, 1});
  for (const std::size_t kernel : {1u, 2u, 3u, 5u})
    for (const std::size_t stride : {1u, 2u})
      for (const std::size_t dilation : {1u, 2u}) check({11, 9, 20, kernel, stride, kernel / 2, dilation});
}

TEST(Xnnpack, ConvolvesGroupsAndEachChannel) {
  for (const std::size_t kernel : {1u, 3u, 5u}) {
    check({9, 4, 6, kernel, 1, kernel / 2, 1, 3});
    for (const std::size_t groups : {2u, 16u, 21u}) check({9, 1, 1, kernel, 2, kernel / 2, 1, groups});
  }
}

TEST(Xnnpack, ConvolvesWhatIsMerged) {
  for (const bool clamped : {false, true})
    for (const bool normed : {false, true})
      for (const bool bias : {false, true}) check({8, 12, 18, 3, 1, 1, 1, 1, bias, clamped, normed});
}

TEST(Xnnpack, RefusesWhatItCannotDo) {
  const auto can = [](auto change) {
    Convolution convolution({8, 4, 6, 3});
    change(convolution);
    return xnnpack::can_convolve(convolution.call);
  };
  EXPECT_TRUE(can([](Convolution&) {}));
  EXPECT_FALSE(can([](Convolution& c) { c.call.tensor(0).constant = true; }));  // the file may end behind it
  EXPECT_FALSE(can([](Convolution& c) { c.call.tensor(0).lasts = true; }));
  EXPECT_FALSE(can([](Convolution& c) { c.call.tensor(1).constant = false; }));
  EXPECT_FALSE(can([](Convolution& c) { c.call.tensor(2).constant = false; }));
  EXPECT_FALSE(can([](Convolution& c) { c.fusion.residual = c.arguments.back(), c.call.fusion = &c.fusion; }));
  EXPECT_FALSE(can([](Convolution& c) { c.fusion.activation = kernels::Activation::silu, c.call.fusion = &c.fusion; }));
  EXPECT_FALSE(can([](Convolution& c) {
    c.fusion.activation = kernels::Activation::clamp, c.fusion.low = c.fusion.high, c.call.fusion = &c.fusion;
  }));
}

TEST(Xnnpack, IsAskedForWhereArithmeticIsRelaxedAndSumsAreShort) {
  const auto accepts = [](const Case& c, bool relaxed) {
    Convolution convolution(c);
    convolution.call.relaxed = relaxed;
    return convolution_xnnpack_f32.accepts(convolution.call);
  };
  EXPECT_TRUE(accepts({14, 40, 120, 1}, true));
  EXPECT_FALSE(accepts({14, 40, 120, 1}, false));
  EXPECT_FALSE(accepts({14, 140, 40, 1}, true));
  EXPECT_FALSE(accepts({1, 40, 120, 1}, true));
  EXPECT_FALSE(accepts({14, 1, 1, 3, 1, 1, 1, 40}, true));
}

TEST(Xnnpack, OneByteLessIsRefused) {
  for (const std::size_t kernel : {1u, 3u}) {
    const Convolution convolution({8, 12, 18, kernel, 1, kernel / 2});
    EXPECT_NO_THROW(LoneStep(convolution_xnnpack_f32, convolution.call));
    try {
      LoneStep(convolution_xnnpack_f32, convolution.call, 1);
      ADD_FAILURE() << "made in less memory than it asked for";
    } catch (const assay::Fault& f) {
      EXPECT_EQ(f.outcome, Outcome::exhausted);
    }
  }
}

// Why it is no exact arithmetic: its kernels clamp, even to infinities, by instructions that take the limit for NaN.
TEST(Xnnpack, TakesNaNForTheLowerLimit) {
  for (const bool clamped : {false, true}) {
    const Convolution convolution({4, 8, 16, 1, 1, 0, 1, 1, true, clamped});
    convolution.input.data()[3] = kernels::nan;
    Fault fault;
    ASSERT_TRUE(LoneStep(convolution_xnnpack_f32, convolution.call).run(fault));
    EXPECT_EQ(convolution.out.values()[0], clamped ? -0.5f : -kernels::infinity);
  }
}

// m x k times a constant matrix, as rows of outputs or as rows of inputs.
void check_product(std::string_view op, std::size_t m, std::size_t k, std::size_t n, bool has_bias) {
  const Fenced a(m * k + beyond), b(random_floats(k * n)), bias(random_floats(n)), out(m * n);
  std::ranges::copy(random_floats(m * k), a.data());
  Values values;
  const bool linear = op == "aten::linear.out";
  Value* x = values.tensor({i32(m), i32(k)}, a.data(), false);
  Value* w = values.tensor(linear ? std::vector{i32(n), i32(k)} : std::vector{i32(k), i32(n)}, b.data(), true);
  Value* y = values.tensor({i32(m), i32(n)}, out.data(), false);
  Value* added = has_bias ? values.tensor({i32(n)}, bias.data(), true) : values.none();
  std::vector<Value*> arguments{x, w, y};
  if (linear) arguments = {x, w, added, y};
  if (op == "aten::addmm.out") arguments = {added, x, w, values.integer(1), values.integer(1), y};
  const Call call{&roles_of(op), arguments, nullptr, kernels::best_instruction_set(), true};
  ASSERT_TRUE(xnnpack::can_multiply(call)) << op;
  Fault fault;
  ASSERT_TRUE(LoneStep(matmul_xnnpack_f32, call).run(fault));
  for (std::size_t i = 0; i < m * n; ++i) {
    double sum = has_bias ? bias.data()[i % n] : 0, magnitude = std::fabs(sum);
    for (std::size_t j = 0; j < k; ++j) {
      const double term = double{a.data()[i / n * k + j]} * b.data()[linear ? i % n * k + j : j * n + i % n];
      sum += term, magnitude += std::fabs(term);
    }
    ASSERT_LE(std::fabs(out.values()[i] - sum), 4 * std::sqrt(static_cast<double>(k + 1)) * 0x1p-24 * magnitude) << op;
  }
  EXPECT_THROW(LoneStep(matmul_xnnpack_f32, call, 1), assay::Fault);
}

TEST(Xnnpack, Multiplies) {
  for (const std::size_t m : {1u, 9u})
    for (const std::size_t k : {1u, 13u, 70u})
      for (const std::size_t n : {1u, 16u, 45u}) {
        check_product("aten::mm.out", m, k, n, false);
        check_product("aten::addmm.out", m, k, n, true);
        for (const bool bias : {false, true}) check_product("aten::linear.out", m, k, n, bias);
      }
}

}  // namespace
}  // namespace assay::optimized
