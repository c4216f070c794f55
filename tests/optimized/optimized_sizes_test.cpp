#include <gtest/gtest.h>

#include <optional>

#include "conformance/adapters/optimized/client.h"
#include "conformance/files/compare.h"
#include "conformance/files/file.h"
#include "conformance/hosts/host.h"
#include "tests/support/methods.h"

// Rewrites keep the results of programs whose tensors have other sizes in each execution. Equal upper bounds do not
// make sizes equal: each program runs with several sizes, and some sizes are refused.
namespace assay {
namespace optimized_sizes_test {

using Index = PlanBuilder::Index;
using Sizes = Dims;

Tensor numbers(const Sizes& sizes) {
  const auto n = static_cast<std::size_t>(count(sizes));
  std::vector<Real> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<Real>(static_cast<int>(i * 7 % 11) - 5);
  return tensor(float32, sizes, all);
}

// The outputs, or the rule by which an execution is refused.
struct Said {
  std::string rule;
  std::vector<Value> outputs;
};
template <class F>
Said said(F run) {
  try {
    return {"", run()};
  } catch (const Fault& f) {
    return {f.rule, {}};
  }
}

// A program of tensors whose sizes move. Each has memory of its own.
struct Moving {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  std::uint64_t end = 0;
  files::Tolerance tolerance{.rtol = 0, .atol = 0};

  Index fixed(const PlanBuilder::Sizes& sizes, DType dtype = float32) {
    std::uint64_t bytes = 8;
    for (const std::int32_t n : sizes) bytes *= static_cast<std::uint64_t>(n);
    return plan.planned(dtype, sizes, 1, std::exchange(end, end + (bytes + 63) / 64 * 64));
  }
  Index moving(const PlanBuilder::Sizes& most, DType dtype = float32) {
    const Index t = fixed(most, dtype);
    plan.at(t).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
    return t;
  }
  Index weight(const PlanBuilder::Sizes& sizes) {
    const Tensor t = numbers(Sizes(std::vector<Int>(sizes.begin(), sizes.end())));
    return plan.constant(float32, sizes, program.constant({t.bytes.begin(), t.bytes.end()}));
  }
  Index call(std::string_view op, Index self, Index out) {
    return plan.call_named(op, {{"self", self}, {"out", out}}), out;
  }
  Index add(Index a, Index b, Index out) { return plan.add_tensors(a, b, out), out; }

  // A convolution of images with 3 channels into images with as many.
  Index convolve(Index x, Index out, std::int32_t kernel = 3, Int stride = 1, Int padding = 1) {
    plan.call_named("aten::convolution.out", {{"input", x},
                                              {"weight", weight({3, 3, kernel, kernel})},
                                              {"bias", plan.none()},
                                              {"stride", plan.integers({stride, stride})},
                                              {"padding", plan.integers({padding, padding})},
                                              {"dilation", plan.integers({1, 1})},
                                              {"transposed", plan.boolean(false)},
                                              {"output_padding", plan.integers({0, 0})},
                                              {"groups", plan.integer(1)},
                                              {"out", out}});
    return out;
  }
  // The maxima of windows, of which no call reads the indices.
  Index pool(Index x, const PlanBuilder::Sizes& sizes, Int kernel, Int padding, bool rounds_up) {
    const Index out = moving(sizes);
    plan.call_named("aten::max_pool2d_with_indices.out", {{"self", x},
                                                          {"kernel_size", plan.integers({kernel, kernel})},
                                                          {"stride", plan.integers({2, 2})},
                                                          {"padding", plan.integers({padding, padding})},
                                                          {"ceil_mode", plan.boolean(rounds_up)},
                                                          {"out", out},
                                                          {"indices", moving(sizes, int64)}});
    return out;
  }
  // A batch norm whose scale is 1 and whose shift is that of the weight.
  Index normalize(Index x, Index out) {
    const auto vector = [&](Real n) { return plan.constant(float32, {3}, program.constant(bytes_of({n, n, n}))); };
    plan.call_named("aten::_native_batch_norm_legit_no_training.out", {{"input", x},
                                                                       {"weight", vector(2)},
                                                                       {"bias", weight({3})},
                                                                       {"running_mean", vector(1)},
                                                                       {"running_var", vector(4)},
                                                                       {"momentum", plan.real(0.1)},
                                                                       {"eps", plan.real(0)},
                                                                       {"out0", out},
                                                                       {"out1", moving({0})},
                                                                       {"out2", moving({0})}});
    return out;
  }

  // For each group of sizes of the inputs, the runtime gives the outcome of the reference. Returns the number of steps.
  std::size_t expect_agreement(std::vector<Index> inputs, std::vector<Index> outputs,
                               const std::vector<std::vector<Sizes>>& sizes) {
    plan.plan().inputs = std::move(inputs), plan.plan().outputs = std::move(outputs);
    const Bytes file = program.bytes();
    hosts::Host host(hosts::valid_program(borrowed(file), {}));
    adapters::OptimizedClient client(file, {}, {});
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<Value> given;
      for (const Sizes& of_input : sizes[i]) given.emplace_back(numbers(of_input));
      const Said want = said([&] { return host.call("forward", given); });
      const Said got = said([&] { return client.call("forward", given); });
      EXPECT_EQ(got.rule, want.rule) << "for sizes " << i;
      refused_ += !want.rule.empty();
      if (!got.rule.empty() || !want.rule.empty()) continue;
      const auto agree = [&](const Value& a, const Value& b) { return files::compare(a, b, tolerance).agrees(); };
      EXPECT_TRUE(std::ranges::equal(got.outputs, want.outputs, agree)) << "for sizes " << i;
    }
    return assay_step_count(client.method("forward").method);
  }
  std::size_t refused() const { return refused_; }

 private:
  std::size_t refused_ = 0;
};

constexpr Int most = 12;
const PlanBuilder::Sizes largest{2, 3, most, most};

const std::vector<std::vector<Sizes>> image_sizes{{{2, 3, most, most}}, {{1, 3, 7, 5}},  {{2, 3, 1, 1}},
                                                  {{0, 3, 4, 4}},       {{1, 3, 1, 9}},  {{1, 3, 0, 4}},
                                                  {{1, 2, 4, 4}},       {{2, 3, 12, 11}}};

TEST(OptimizedSizes, FuseWhatFollowsConvolutions) {
  Moving m;
  const Index x = m.moving(largest);
  const Index first =
      m.call("aten::relu.out", m.normalize(m.convolve(x, m.moving(largest)), m.moving(largest)), m.moving(largest));
  const Index sum = m.add(m.convolve(first, m.moving(largest)), first, m.moving(largest));
  const Index out = m.call("aten::relu.out", sum, m.moving(largest));
  EXPECT_EQ(m.expect_agreement({x}, {out}, image_sizes), 2u);
  EXPECT_EQ(m.refused(), 2u);
}

// Products of matrices of any number of rows, none included.
TEST(OptimizedSizes, FuseWhatFollowsProducts) {
  Moving m;
  const PlanBuilder::Sizes rows{most, 3}, groups{2, most, 3};
  const auto product = [&](Index x) {
    const Index out = m.moving(rows);
    m.plan.call_named("aten::mm.out", {{"self", x}, {"mat2", m.weight({3, 3})}, {"out", out}});
    return out;
  };
  const auto linear = [&](Index x) {
    const Index out = m.moving(groups);
    m.plan.call_named("aten::linear.out",
                      {{"input", x}, {"weight", m.weight({3, 3})}, {"bias", m.weight({3})}, {"out", out}});
    return out;
  };
  const Index x = m.moving(rows), y = m.moving(groups), a = product(x), b = linear(y);
  const Index first = m.call("aten::relu.out", m.add(product(a), a, m.moving(rows)), m.moving(rows));
  const Index second = m.call("aten::relu.out", m.add(linear(b), b, m.moving(groups)), m.moving(groups));
  EXPECT_EQ(m.expect_agreement({x, y}, {product(first), second},
                               {{{most, 3}, {2, most, 3}},
                                {{5, 3}, {1, 2, 3}},
                                {{1, 3}, {2, 1, 3}},
                                {{0, 3}, {2, 0, 3}},
                                {{4, 2}, {2, 1, 3}},
                                {{4, 3}, {2, 1, 1}}}),
            5u);
  EXPECT_EQ(m.refused(), 2u);
}

// Two inputs of equal upper bounds: rows are broadcast, or the sum is refused.
TEST(OptimizedSizes, DoNotAddRowsOfEqualBounds) {
  Moving m;
  const PlanBuilder::Sizes rows{most, 3};
  const Index x = m.moving(rows), other = m.moving(rows), product = m.moving(rows);
  m.plan.call_named("aten::mm.out", {{"self", x}, {"mat2", m.weight({3, 3})}, {"out", product}});
  const Index out = m.add(product, other, m.moving(rows));
  EXPECT_EQ(
      m.expect_agreement({x, other}, {out},
                         {{{4, 3}, {4, 3}}, {{4, 3}, {1, 3}}, {{1, 3}, {4, 3}}, {{4, 3}, {3, 3}}, {{0, 3}, {1, 3}}}),
      2u);
  EXPECT_EQ(m.refused(), 1u);
}

// Windows that differ may give the same number of places for every size.
TEST(OptimizedSizes, AddImagesOfEqualStrides) {
  Moving m;
  const PlanBuilder::Sizes half{2, 3, most / 2, most / 2};
  const Index x = m.moving(largest), other = m.convolve(x, m.moving(half), 1, 2, 0);
  const Index out = m.add(m.convolve(x, m.moving(half), 3, 2, 1), other, m.moving(half));
  EXPECT_EQ(m.expect_agreement({x}, {out}, image_sizes), 2u);
}

// These windows give the same number of places for images of the largest size, but not of every size.
TEST(OptimizedSizes, DoNotAddImagesOfDifferentWindows) {
  Moving m;
  const PlanBuilder::Sizes half{2, 3, most / 2, most / 2};
  const Index x = m.moving(largest), other = m.convolve(x, m.moving(half), 2, 2, 0);
  const Index out = m.add(m.convolve(x, m.moving(half), 3, 2, 1), other, m.moving(half));
  EXPECT_EQ(m.expect_agreement({x}, {out}, {{{2, 3, 12, 12}}, {{1, 3, 3, 3}}, {{1, 3, 5, 3}}, {{1, 3, 2, 4}}}), 3u);
  EXPECT_EQ(m.refused(), 1u);
}

// The images stay channels last.
TEST(OptimizedSizes, FuseWhatFollowsPools) {
  Moving m;
  const PlanBuilder::Sizes half{2, 3, most / 2, most / 2};
  const Index x = m.moving(largest), largest_of = m.pool(m.convolve(x, m.moving(largest)), half, 3, 1, false);
  const Index out = m.add(m.convolve(largest_of, m.moving(half)), largest_of, m.moving(half));
  EXPECT_EQ(m.expect_agreement({x}, {out}, image_sizes), 3u);
  EXPECT_EQ(m.refused(), 2u);
}

// The windows of the pool, whose number is rounded up, are as many as those of the convolution only if sizes are even.
TEST(OptimizedSizes, DoNotAddImagesOfRoundedUpWindows) {
  Moving m;
  const PlanBuilder::Sizes half{2, 3, most / 2, most / 2};
  const Index x = m.moving(largest), product = m.convolve(x, m.moving(half), 2, 2, 0);
  const Index out = m.add(product, m.pool(x, half, 2, 0, true), m.moving(half));
  EXPECT_EQ(m.expect_agreement({x}, {out}, {{{2, 3, 12, 12}}, {{1, 3, 4, 8}}, {{1, 3, 3, 3}}, {{1, 3, 5, 4}}}), 3u);
  EXPECT_EQ(m.refused(), 1u);
}

// Two inputs of equal upper bounds: their sizes are equal, or one is broadcast to the other, or the sum is refused.
TEST(OptimizedSizes, DoNotAddImagesOfEqualBounds) {
  Moving m;
  const Index x = m.moving(largest), other = m.moving(largest);
  const Index out = m.add(m.convolve(x, m.moving(largest)), other, m.moving(largest));
  EXPECT_EQ(m.expect_agreement({x, other}, {out},
                               {{{2, 3, 4, 4}, {2, 3, 4, 4}},
                                {{2, 3, 4, 4}, {1, 3, 1, 1}},
                                {{1, 3, 1, 1}, {2, 3, 4, 4}},
                                {{1, 3, 5, 4}, {1, 3, 4, 4}}}),
            2u);
  EXPECT_EQ(m.refused(), 1u);
}

// A result with a lower bound refuses sizes that the bound of the convolution allows, and the other way round.
TEST(OptimizedSizes, DoNotFuseResultsOfOtherBounds) {
  const PlanBuilder::Sizes smaller{2, 3, most / 2, most / 2};
  for (const auto& [first, second] : {std::pair(largest, smaller), std::pair(smaller, largest)}) {
    Moving m;
    const Index x = m.moving(largest);
    const Index out = m.call("aten::relu.out", m.convolve(x, m.moving(first)), m.moving(second));
    EXPECT_EQ(m.expect_agreement({x}, {out}, image_sizes), 2u);
    EXPECT_EQ(m.refused(), 6u);
  }
}

// Two instructions set the sizes of the second operand.
TEST(OptimizedSizes, DoNotAddWhatWasResized) {
  Moving m;
  const Index x = m.moving(largest), y = m.moving(largest);
  const Index operand = m.call("aten::relu.out", x, m.moving(largest));
  const Index product = m.convolve(operand, m.moving(largest));
  m.call("aten::neg.out", y, operand);
  const Index out = m.add(product, operand, m.moving(largest));
  m.expect_agreement({x, y}, {out}, {{{2, 3, 4, 4}, {2, 3, 4, 4}}, {{2, 3, 4, 4}, {1, 3, 1, 1}}});
}

// A product reads a view that a later instruction gives other sizes.
TEST(OptimizedSizes, DoNotMoveProductsPastOtherViews) {
  Moving m;
  const Index x = m.moving({most, 3}), view = m.plan.tensor(float32, {most, 3}), product = m.moving({most, 3});
  m.plan.at(view).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
  const auto give_sizes = [&](Int rows) {
    m.plan.call("executorch_prim::et_view.default", {x, m.plan.integers({rows, -1}), view});
  };
  give_sizes(2);
  m.plan.call_named("aten::mm.out", {{"self", view}, {"mat2", m.weight({3, 3})}, {"out", product}});
  give_sizes(6);
  const Index out = m.call("aten::relu.out", product, m.moving({most, 3}));
  m.expect_agreement({x}, {out, m.call("aten::neg.out", view, m.moving({most, 3}))}, {{{2, 3}}});
}

// A block of a decoder. Each matrix product has the rows of all groups as one dimension, and the elementwise calls have
// the groups. There is at most one group.
struct Rows : Moving {
  static inline const PlanBuilder::Sizes groups{1, most, 3}, rows{most, 3};
  Index x, n, base;

  explicit Rows(std::int32_t most_groups = 1) : x(moving({most_groups, most, 3})), n(plan.integer(0)), base(grouped()) {
    plan.call_named("aten::linear.out",
                    {{"input", x}, {"weight", weight({3, 3})}, {"bias", plan.none()}, {"out", base}});
    plan.call("aten::sym_size.int", {base, plan.integer(1), n});
  }
  Index grouped() { return moving({plan.at(x).sizes[0], most, 3}); }
  Index list(const std::vector<std::int64_t>& values) { return plan.list<pte::IntListT>(values); }
  Index view(Index self, const std::vector<std::int64_t>& values, const PlanBuilder::Sizes& bounds) {
    const Index out = plan.tensor(float32, bounds, pte::TensorShapeDynamism::DYNAMIC_BOUND);
    plan.call("executorch_prim::et_view.default", {self, list(values), out});
    return out;
  }
  Index product(Index self) {
    const Index out = moving(rows);
    plan.call_named("aten::mm.out",
                    {{"self", view(self, {n, plan.integer(3)}, rows)}, {"mat2", weight({3, 3})}, {"out", out}});
    return out;
  }
  Index grouped_view(Index self) { return view(self, {plan.integer(1), n, plan.integer(3)}, groups); }
  Index expand(Index self, const std::vector<std::int64_t>& values, Index out) {
    plan.call("aten::expand_copy.out", {self, list(values), plan.boolean(false), out, out});
    return out;
  }
  std::size_t expect_outcomes(Index out) {
    return expect_agreement(
        {x}, {out}, {{{1, 12, 3}}, {{1, 5, 3}}, {{1, 1, 3}}, {{1, 0, 3}}, {{0, 0, 3}}, {{0, 5, 3}}, {{2, 3, 3}}});
  }
};

// The first view of a block shows that there is one group, or there are no rows. It stays; the views of products go.
TEST(OptimizedSizes, FuseThroughViews) {
  Rows m;
  const Index hidden = m.call("aten::relu.out", m.grouped_view(m.product(m.base)), m.moving(Rows::groups));
  const Index sum = m.add(m.base, m.grouped_view(m.product(hidden)), m.moving(Rows::groups));
  EXPECT_EQ(m.expect_outcomes(sum), 6u);  // linear, size, view, product with relu, view, product with sum
  EXPECT_EQ(m.refused(), 2u);
}

TEST(OptimizedSizes, DoNotAddSeveralGroups) {
  Rows m(2);
  const Index sum = m.add(m.base, m.grouped_view(m.product(m.base)), m.grouped());
  EXPECT_EQ(m.expect_outcomes(sum), 6u);
}

// No view shows that there is one group: the sum may have no groups, although the product has rows.
TEST(OptimizedSizes, DoNotAddGroupsThatAreNotKnown) {
  Rows m;
  const Index rows = m.moving(Rows::rows), product = m.moving(Rows::rows);
  m.plan.call_named("aten::slice_copy.Tensor_out", {{"self", m.weight(Rows::rows)},
                                                    {"dim", m.plan.integer(0)},
                                                    {"start", m.plan.integer(0)},
                                                    {"end", m.n},
                                                    {"step", m.plan.integer(1)},
                                                    {"out", rows}});
  m.plan.call_named("aten::mm.out", {{"self", rows}, {"mat2", m.weight({3, 3})}, {"out", product}});
  const Index sum = m.add(m.base, m.grouped_view(product), m.moving(Rows::groups));
  EXPECT_EQ(m.expect_outcomes(sum), 6u);
  EXPECT_EQ(m.refused(), 1u);
}

// The kernel knows one size that is left, not two.
TEST(OptimizedSizes, DoNotFuseResultsWithTwoOpenSizes) {
  Rows m(2);
  const Index groups = m.plan.integer(0), product = m.grouped();
  m.plan.call("aten::sym_size.int", {m.base, m.plan.integer(0), groups});
  m.plan.call_named("aten::linear.out",
                    {{"input", m.base}, {"weight", m.weight({3, 3})}, {"bias", m.plan.none()}, {"out", product}});
  const Index view = m.view(product, {m.n, groups, m.plan.integer(3)}, {most, 2, 3});
  EXPECT_EQ(m.expect_outcomes(m.call("aten::relu.out", view, m.moving({most, 2, 3}))), 6u);
}

TEST(OptimizedSizes, KeepViewsThatOthersRead) {
  Rows m;
  const Index view = m.grouped_view(m.product(m.base));
  const Index out = m.call("aten::relu.out", view, m.moving(Rows::groups));
  EXPECT_EQ(
      m.expect_outcomes(m.add(out, m.call("aten::neg.out", view, m.moving(Rows::groups)), m.moving(Rows::groups))), 8u);
}

// The view has as many elements in another order of sizes, so that the sum broadcasts both operands.
TEST(OptimizedSizes, DoNotAddViewsOfOtherSizes) {
  Rows m;
  const Index view = m.view(m.product(m.base), {m.n, m.plan.integer(1), m.plan.integer(3)}, {most, 1, 3});
  EXPECT_EQ(m.expect_outcomes(m.add(m.base, view, m.moving({most, most, 3}))), 6u);
}

TEST(OptimizedSizes, DropExpansionsThatKeepSizes) {
  Rows m;
  const Index copy = m.expand(m.base, {m.plan.integer(-1), m.n, m.plan.integer(3)}, m.moving(Rows::groups));
  const Index same = m.view(copy, {m.n, m.plan.integer(3)}, Rows::rows);
  EXPECT_EQ(m.expect_outcomes(m.add(copy, m.call("aten::neg.out", same, m.moving(Rows::rows)), m.moving(Rows::groups))),
            5u);
}

TEST(OptimizedSizes, KeepExpansionsThatAddRows) {
  Rows m;
  const Index copy =
      m.expand(m.base, {m.plan.integer(1), m.plan.integer(12), m.plan.integer(3)}, m.moving(Rows::groups));
  EXPECT_EQ(m.expect_outcomes(m.add(copy, m.base, m.moving(Rows::groups))), 4u);
}

// A constant operand of one size, whose elements are broadcast.
TEST(OptimizedSizes, BroadcastConstants) {
  Moving m;
  const Index x = m.moving(largest), one = m.weight({1, 3, 1, 1});
  const Index out = m.add(m.convolve(x, m.moving(largest)), one, m.moving(largest));
  EXPECT_EQ(m.expect_agreement({x}, {out}, image_sizes), 2u);
}

// Attention of 2 heads of 4 numbers from a sequence x of n positions to a sequence y of m positions; y is x unless
// attend_to_another is called. Queries, keys and values are products of the sequences.
struct Attends : Moving {
  std::int32_t longest;
  Index x, n, y, m, heads = plan.integer(2), depth = plan.integer(4);

  explicit Attends(std::int32_t longest = most)
      : longest(longest), x(moving({longest, 8})), n(length_of(x)), y(x), m(n) {
    tolerance = {.rtol = 1e-5, .atol = 1e-5};
  }
  void attend_to_another() { y = moving({longest, 8}), m = length_of(y); }
  Index length_of(Index sequence) {
    const Index length = plan.integer(0);
    plan.call("aten::sym_size.int", {sequence, plan.integer(0), length});
    return length;
  }
  Index view(Index self, const std::vector<std::int64_t>& values, const PlanBuilder::Sizes& bounds) {
    const Index out = plan.tensor(float32, bounds, pte::TensorShapeDynamism::DYNAMIC_BOUND);
    plan.call("executorch_prim::et_view.default", {self, plan.list<pte::IntListT>(values), out});
    return out;
  }
  Index permute(Index self, const std::vector<Int>& dims, Index out) {
    plan.call_named("aten::permute_copy.out", {{"self", self}, {"dims", plan.integers(dims)}, {"out", out}});
    return out;
  }
  Index multiply(std::string_view op, Index a, Index b, Index out) {
    return plan.call_named(op, {{"self", a}, {"mat2", b}, {"out", out}}), out;
  }
  Index split(Index sequence, Index length) {
    const Index product = multiply("aten::mm.out", sequence, weight({8, 8}), moving({longest, 8}));
    return permute(view(product, {length, heads, depth}, {longest, 2, 4}), {1, 0, 2}, moving({2, longest, 4}));
  }
  Index queries() { return split(x, n); }           // [2, n, 4]
  Index keys() { return transposed(split(y, m)); }  // [2, 4, m]
  Index values() { return split(y, m); }            // [2, m, 4]
  Index transposed(Index k) { return permute(k, {0, 2, 1}, moving({2, 4, longest})); }
  // [n, m]
  Index mask() {
    return multiply("aten::mm.out", x, permute(y, {1, 0}, moving({8, longest})), moving({longest, longest}));
  }
  // From queries and transposed keys to the results of the heads, side by side. There are at most `most_scores` scores
  // of a head's queries.
  Index attend(Index q, Index k, Index v, Index mask, std::int32_t most_scores) {
    const PlanBuilder::Sizes groups{1, 2, longest, longest};
    const Index scores = multiply("aten::bmm.out", q, k, moving({2, longest, most_scores}));
    const Index grouped = view(scores, {plan.integer(1), heads, n, m}, {1, 2, longest, most_scores});
    const Index scaled = moving({1, 2, longest, most_scores}), weights = moving(groups);
    plan.call_named("aten::mul.Scalar_out", {{"self", grouped}, {"other", plan.real(0.125)}, {"out", scaled}});
    plan.call_named("aten::_softmax.out", {{"self", add(scaled, mask, moving(groups))},
                                           {"dim", plan.integer(-1)},
                                           {"half_to_float", plan.boolean(false)},
                                           {"out", weights}});
    const Index all =
        multiply("aten::bmm.out", view(weights, {heads, n, m}, {2, longest, longest}), v, moving({2, longest, 4}));
    return permute(view(all, {heads, n, depth}, {2, longest, 4}), {1, 0, 2}, moving({longest, 2, 4}));
  }
  std::size_t expect_lengths(Index out) {
    std::vector<std::vector<Sizes>> lengths;
    for (const Int length : {longest, 3, 1, 0, 2, longest, 4}) lengths.push_back({{length, 8}});
    return expect_agreement({x}, {out}, lengths);
  }
};

TEST(OptimizedSizes, AttendToSequences) {
  Attends a;
  const Index q = a.queries(), k = a.keys(), v = a.values();
  const Index out = a.attend(q, k, v, a.mask(), most);
  EXPECT_EQ(a.expect_lengths(out), 7u);  // size, four products, a transposed sequence, attention
  EXPECT_EQ(a.refused(), 0u);
}

TEST(OptimizedSizes, AttendToOtherSequences) {
  Attends a;
  a.attend_to_another();
  const Index q = a.queries(), k = a.keys(), v = a.values();
  const Index out = a.attend(q, k, v, a.mask(), most);
  std::vector<std::vector<Sizes>> lengths;
  for (const auto& [n, m] :
       std::vector<std::pair<Int, Int>>{{12, 12}, {3, 5}, {9, 2}, {5, 0}, {0, 4}, {1, 12}, {12, 1}})
    lengths.push_back({{n, 8}, {m, 8}});
  EXPECT_EQ(a.expect_agreement({a.x, a.y}, {out}, lengths), 8u);
  EXPECT_EQ(a.refused(), 0u);
}

// The first n rows of a state become those of the sequence. The other rows are those of earlier executions.
TEST(OptimizedSizes, PutRowsBack) {
  Attends a;
  const Index state = a.plan.state(float32, {a.longest, 8}, 2), positions = a.moving({a.longest}, int64);
  const Index put = a.fixed({a.longest, 8});
  a.plan.call_named("aten::arange.start_out", {{"start", a.plan.integer(0)}, {"end", a.n}, {"out", positions}});
  a.plan.call_named("aten::index_put.out", {{"self", state},
                                            {"indices", a.plan.list<pte::OptionalTensorListT>(std::vector{positions})},
                                            {"values", a.x},
                                            {"out", put}});
  a.plan.call_named("aten::copy_", {{"self", state}, {"src", put}});
  EXPECT_EQ(a.expect_lengths(a.add(state, state, a.fixed({a.longest, 8}))), 4u);  // size, positions, index_put_, sum
  EXPECT_EQ(a.refused(), 0u);
}

// Keys whose bytes are seen in another order. If the longest sequence has 4 positions, the sizes are those of
// transposed keys.
TEST(OptimizedSizes, AttendToKeysInTheOrderOfTheirBytes) {
  Attends a(4);
  const Index q = a.queries(), k = a.view(a.values(), {a.heads, a.depth, a.n}, {2, 4, 4}), v = a.values();
  a.expect_lengths(a.attend(q, k, v, a.mask(), 4));
  EXPECT_EQ(a.refused(), 0u);
}

// Scores, keys or values of more than 3 positions are refused.
TEST(OptimizedSizes, DoNotAttendPastBounds) {
  for (int lower = 0; lower < 3; ++lower) {
    Attends a;
    const auto bound = [&](int which) { return which == lower ? std::int32_t{3} : std::int32_t{most}; };
    const Index q = a.queries(), k = a.permute(a.values(), {0, 2, 1}, a.moving({2, 4, bound(1)}));
    const Index v = a.permute(a.split(a.y, a.m), {0, 1, 2}, a.moving({2, bound(2), 4}));
    a.expect_lengths(a.attend(q, k, v, a.mask(), bound(0)));
    EXPECT_EQ(a.refused(), 3u);
  }
}

// Keys and values of two sequences have equal bounds. Different lengths are refused.
TEST(OptimizedSizes, DoNotAttendToValuesOfOtherLengths) {
  Attends a;
  const Index q = a.queries(), k = a.keys(), mask = a.mask();
  a.attend_to_another();
  const Index v = a.values();
  a.m = a.n;
  const Index out = a.attend(q, k, v, mask, most);
  EXPECT_GT(
      a.expect_agreement({a.x, a.y}, {out}, {{{3, 8}, {3, 8}}, {{3, 8}, {5, 8}}, {{5, 8}, {3, 8}}, {{0, 8}, {2, 8}}}),
      8u);
  EXPECT_EQ(a.refused(), 3u);
}

// A mask of equal bounds is broadcast, or refused.
TEST(OptimizedSizes, DoNotAttendWithMasksOfEqualBounds) {
  Attends a;
  const Index mask = a.moving({most, most});
  const Index q = a.queries(), k = a.keys(), v = a.values();
  const Index out = a.attend(q, k, v, mask, most);
  EXPECT_GT(
      a.expect_agreement({a.x, mask}, {out},
                         {{{3, 8}, {3, 3}}, {{3, 8}, {1, 3}}, {{3, 8}, {3, 1}}, {{3, 8}, {2, 3}}, {{3, 8}, {3, 2}}}),
      7u);
  EXPECT_EQ(a.refused(), 2u);
}

// Two calls read the weights: they must be stored.
TEST(OptimizedSizes, KeepWeightsThatOthersRead) {
  Attends a;
  const Index q = a.queries(), k = a.keys(), v = a.values();
  const Index scores = a.multiply("aten::bmm.out", q, k, a.moving({2, most, most})),
              weights = a.moving({2, most, most});
  a.plan.call_named(
      "aten::_softmax.out",
      {{"self", scores}, {"dim", a.plan.integer(-1)}, {"half_to_float", a.plan.boolean(false)}, {"out", weights}});
  const Index out = a.multiply("aten::bmm.out", weights, v, a.moving({2, most, 4}));
  std::vector<std::vector<Sizes>> lengths{{{most, 8}}, {{3, 8}}, {{0, 8}}};
  a.expect_agreement({a.x}, {out, a.call("aten::relu.out", weights, a.moving({2, most, most}))}, lengths);
}

// Images that lie channels last between convolutions, and calls that accept that layout or do not.
TEST(OptimizedSizes, ReadImagesInTheLayoutThatTheyHave) {
  Moving m;
  const Index x = m.moving(largest);
  const Index first = m.convolve(x, m.moving(largest)), flat = m.moving({2, 3 * most * most});
  const Index sum = m.add(first, m.convolve(first, m.moving(largest)), m.moving(largest));
  const Index means = m.moving({2, 3});
  m.plan.call_named("aten::mean.out", {{"self", sum},
                                       {"dim", m.plan.integers({2, 3})},
                                       {"keepdim", m.plan.boolean(false)},
                                       {"dtype", m.plan.none()},
                                       {"out", means}});
  const Index again = m.convolve(sum, m.moving(largest));
  m.plan.call_named("aten::view_copy.out", {{"self", again}, {"size", m.plan.integers({2, -1})}, {"out", flat}});
  m.expect_agreement({x}, {flat, sum, means}, {{{2, 3, 12, 12}}, {{2, 3, 5, 4}}, {{2, 3, 1, 1}}, {{1, 3, 2, 2}}});
}

}  // namespace optimized_sizes_test
}  // namespace assay
