#include "conformance/judge/judge.h"

#include <gmock/gmock-matchers.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "conformance/runner/run_case.h"
#include "tests/support/tensors.h"

// How a result is judged against the reference: for each way of spec/numerics.md to be right, a right result and the
// nearest wrong one.
namespace assay {
namespace judge_test {

using enum DType;
using testing::HasSubstr;

constexpr Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();

Tensor row(DType dtype, const std::vector<Real>& values) {
  return tensor(dtype, {static_cast<Int>(values.size())}, values);
}

// A call, the reference's answer, and the judgement of other answers.
class Question {
 public:
  Question(std::string_view name, std::vector<Value> arguments)
      : op_(*find_operator(name)), arguments_(std::move(arguments)) {
    arguments_.resize(op_.arguments.size());
    expected_ = expect(op_, arguments_);
  }

  const Tensor& want() const { return expected_.outs.at(0); }
  Real exactly(std::size_t i = 0) const { return expected_.answer.unrounded.at(0).values.at(i); }

  // The same for a testee that computes in another arithmetic.
  Question in(ArithmeticMode mode) const {
    Question q = *this;
    q.mode_ = mode;
    return q;
  }

  Judgement judge_reaction(const Reaction& reaction) const {
    return judge(op_, arguments_, expected_, reaction, mode_);
  }
  Judgement judge_outs(std::vector<Tensor> outs) const {
    Reaction reaction;
    reaction.outs = std::move(outs);
    return judge_reaction(reaction);
  }
  Judgement judge_values(const std::vector<Real>& values) const {
    return judge_outs({tensor(want().dtype, want().sizes, values)});
  }
  Verdict verdict_of(const std::vector<Real>& values) const { return judge_values(values).verdict; }

  // The verdict on a result that is off by ulps(i) units in the last place at index i.
  template <class F>
  Verdict verdict_when_off_by(F ulps) const {
    std::vector<Real> values = values_of(want());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = exactly(i) + ulps(i) * ulp(want().dtype, exactly(i));
    return verdict_of(values);
  }

 private:
  const Operator& op_;
  std::vector<Value> arguments_;
  Expectation expected_;
  ArithmeticMode mode_ = ArithmeticMode::ieee;
};

Question negation(DType dtype, const std::vector<Real>& values) { return {"aten::neg.out", {row(dtype, values)}}; }
Question product(DType dtype, const std::vector<Real>& a, const std::vector<Real>& b) {
  const Int n = static_cast<Int>(a.size());
  return {"aten::mm.out", {tensor(dtype, {1, n}, a), tensor(dtype, {n, 1}, b)}};
}

// -- exact ------------------------------------------------------------------------------------------------------------

TEST(Exact, ComparesEveryBit) {
  const Question q = negation(float32, {1, 2});
  EXPECT_EQ(q.verdict_of({-1, -2}), Verdict::pass);
  const Judgement j = q.judge_values({-1, -2 - std::ldexp(1.0, -22)});
  EXPECT_EQ(j.verdict, Verdict::fail);
  EXPECT_EQ(j.failure, Class::value);
  EXPECT_EQ(j.distance, 1);
  EXPECT_EQ(j.element, 1);
  EXPECT_THAT(j.message, HasSubstr("out at (1) is -2.0000002384185791, but must be -2"));
}

TEST(Exact, ComparesIntegersOfEverySize) {
  const Int large = std::numeric_limits<Int>::max();
  const Question q("aten::neg.out", {tensor<Int>(int64, {1}, {large})});
  EXPECT_EQ(q.judge_outs({tensor<Int>(int64, {1}, {-large})}).verdict, Verdict::pass);
  EXPECT_EQ(q.judge_outs({tensor<Int>(int64, {1}, {-large + 1})}).verdict, Verdict::fail);
}

TEST(Exact, AcceptsEveryNan) {
  const Question q = negation(float32, {nan});
  EXPECT_EQ(q.judge_outs({tensor<Bits>(float32, {1}, {0xFFC12345})}).verdict, Verdict::pass);
  EXPECT_EQ(q.judge_values({1}).failure, Class::nan);
  EXPECT_EQ(negation(float32, {1}).judge_values({nan}).failure, Class::nan);
}

TEST(Exact, ComparesTheSignOfAZero) {
  EXPECT_EQ(negation(float32, {0}).verdict_of({-0.0}), Verdict::pass);
  EXPECT_EQ(negation(float32, {0}).verdict_of({0.0}), Verdict::fail);
}

// -- units in the last place ------------------------------------------------------------------------------------------

TEST(Ulp, IsMeasuredFromTheValueBeforeRounding) {
  for (const DType dtype : {float32, float16, bfloat16, float64}) {
    const Question q("aten::exp.out", {row(dtype, {0.7})});
    const Operator& exp = *find_operator("aten::exp.out");
    const auto amount = static_cast<Real>(accuracy(exp, 0, dtype).amount);
    int right = 0, wrong = 0;
    Real got = values_of(q.want())[0] - 8 * ulp(dtype, q.exactly());
    for (int k = 0; k <= 16; ++k, got += ulp(dtype, q.exactly())) {
      const bool within = std::fabs(got - q.exactly()) <= amount * ulp(dtype, q.exactly());
      (within ? right : wrong)++;
      EXPECT_EQ(q.verdict_of({got}), within ? Verdict::pass : Verdict::fail) << info(dtype).name << ' ' << k - 8;
    }
    EXPECT_GE(right, 1);
    EXPECT_GE(wrong, 8);
  }
}

TEST(Ulp, InfinityIsOneStepBeyondTheLargest) {
  const Real edge = 88.722835;  // exp(edge) is a few units below the largest float32
  const Question near("aten::exp.out", {row(float32, {edge})});
  ASSERT_TRUE(std::isfinite(values_of(near.want())[0]));
  const Question above("aten::div.out", {row(float16, {65504}), row(float16, {0.998})});  // 65632
  EXPECT_EQ(above.verdict_of({inf}), Verdict::pass);
  EXPECT_EQ(above.verdict_of({65504}), Verdict::fail);
  const Question beyond("aten::exp.out", {row(float32, {90})});
  EXPECT_EQ(beyond.verdict_of({inf}), Verdict::pass);
  EXPECT_EQ(beyond.verdict_of({largest(float32)}), Verdict::fail);
  EXPECT_EQ(beyond.verdict_of({-inf}), Verdict::fail);
}

TEST(Ulp, SubnormalsMayBeFlushedWhereTheRowAllowsIt) {
  EXPECT_EQ(Question("aten::sigmoid.out", {row(float32, {-88})}).verdict_of({0}), Verdict::pass);
  EXPECT_EQ(Question("aten::sigmoid.out", {row(float32, {-87})}).verdict_of({0}), Verdict::fail);
}

// -- dot --------------------------------------------------------------------------------------------------------------

TEST(Dot, AllowsAllRoundingsOfFewTerms) {
  const Question q = product(float32, {1, 1, 1, -3}, {1, 1, 1, 0.5});  // 1.5, with magnitude 4.5
  const Real roundoff = std::ldexp(1.0, -24) * 4.5;
  EXPECT_EQ(q.verdict_of({1.5}), Verdict::pass);
  EXPECT_EQ(q.verdict_of({1.5 + 1.8 * roundoff}), Verdict::pass);
  EXPECT_EQ(q.verdict_of({1.5 + 2.6 * roundoff}), Verdict::quality);
  EXPECT_EQ(q.verdict_of({1.5 - 3.6 * roundoff}), Verdict::quality);
  EXPECT_EQ(q.verdict_of({1.5 + 4.4 * roundoff}), Verdict::fail);
}

TEST(Dot, AllowsFourStandardDeviationsForManyTerms) {
  const std::vector<Real> ones(64, 1);
  const Real deviation = std::ldexp(1.0, -24) * 64 * std::sqrt(64.0);
  const Question q = product(float32, ones, ones);
  EXPECT_EQ(q.verdict_of({64 + 0.9 * deviation}), Verdict::pass);
  for (const Real by : {1.2, -3.9}) EXPECT_EQ(q.verdict_of({64 + by * deviation}), Verdict::quality) << by;
  EXPECT_EQ(q.verdict_of({64 + 4.2 * deviation}), Verdict::fail);
}

// The sum is a float32 number. Halfway between two numbers, both are right.
TEST(Dot, AHalfResultIsASumThatIsRoundedOnce) {
  const std::vector<Real> ones(64, 1);
  for (const Real got : {63.9375, 64.0625}) EXPECT_EQ(product(float16, ones, ones).verdict_of({got}), Verdict::fail);
  const Question middle = product(float16, {1, 1}, {64, 0.03125});
  for (const Real got : {64.0, 64.0625}) EXPECT_EQ(middle.verdict_of({got}), Verdict::pass) << got;
  for (const Real got : {63.96875, 64.125}) EXPECT_EQ(middle.verdict_of({got}), Verdict::fail) << got;
}

TEST(Dot, ASumMayBeInfiniteIfTheTermsOfOneSignOverflow) {
  const Real huge = std::ldexp(1.0, 127);
  const Question both = product(float32, {huge, huge, huge, huge}, {1, -1, 1, -1});
  for (const Real got : {0.0, inf, -inf, nan}) EXPECT_EQ(both.verdict_of({got}), Verdict::pass) << got;
  EXPECT_EQ(both.verdict_of({huge}), Verdict::fail);
  const Question positive = product(float32, {huge, huge, huge}, {1, 1, -1});
  for (const Real got : {huge, inf}) EXPECT_EQ(positive.verdict_of({got}), Verdict::pass) << got;
  for (const Real got : {-inf, nan}) EXPECT_EQ(positive.verdict_of({got}), Verdict::fail) << got;
  for (const Real got : {inf, -inf, nan})
    EXPECT_EQ(product(float32, {huge, huge}, {1, -1}).verdict_of({got}), Verdict::fail) << got;
}

// The magnitude function reports that a partial result may be non-finite. Bounds of finite answers still apply.
TEST(Dot, APartialOverflowKeepsTheSignAndTheBound) {
  const Real huge = std::ldexp(1.0, 100), tiny = std::ldexp(1.0, -60), all = std::ldexp(1.0, 80);
  const Question growing("aten::prod.out", {row(float32, {huge, huge, tiny, tiny})});
  for (const Real got : {all, inf, nan}) EXPECT_EQ(growing.verdict_of({got}), Verdict::pass) << got;
  for (const Real got : {1.01 * all, 0.0, -inf}) EXPECT_EQ(growing.verdict_of({got}), Verdict::fail) << got;
  const Question infinite("aten::prod.out", {row(float32, {inf, 2})});
  EXPECT_EQ(infinite.verdict_of({inf}), Verdict::pass);
  for (const Real got : {-inf, nan, 0.0}) EXPECT_EQ(infinite.verdict_of({got}), Verdict::fail) << got;
}

// If all elements are equal, rounding decides whether squares remain. Otherwise squares always remain.
TEST(Dot, AVarianceDividedByZeroIsNan) {
  const auto variance = [](const std::vector<Real>& x) {
    return Question("aten::var.out", {row(float32, x), Value{Ints{0}}, true, false});
  };
  const auto of_none = [](const std::vector<Real>& x) {
    return Question("aten::var.correction_out", {row(float32, x), Value{Ints{0}}, Value{Int{3}}, false});
  };
  EXPECT_EQ(variance({5}).verdict_of({nan}), Verdict::pass);
  for (const Real got : {inf, 0.0}) EXPECT_EQ(variance({5}).verdict_of({got}), Verdict::fail) << got;
  EXPECT_EQ(of_none({1, 2, 3}).verdict_of({inf}), Verdict::pass);
  for (const Real got : {nan, -inf, 12345.0}) EXPECT_EQ(of_none({1, 2, 3}).verdict_of({got}), Verdict::fail) << got;
  for (const Real got : {nan, inf}) EXPECT_EQ(of_none({0.1, 0.1}).verdict_of({got}), Verdict::pass) << got;
  EXPECT_EQ(of_none({0.1, 0.1}).verdict_of({12345}), Verdict::fail);
  const Question rounded("aten::var.correction_out",
                         {row(float64, std::vector<Real>(8, 0.1)), Value{Ints{0}}, Value{Int{8}}, false});
  for (const Real got : {nan, inf}) EXPECT_EQ(rounded.verdict_of({got}), Verdict::pass) << got;
}

// For any number of indices.
TEST(Dot, CountsOnlyTheTermsOfOneSum) {
  const auto added = [](const std::vector<Real>& places) {
    return Question("aten::scatter_add.out", {row(float32, {1, 1, 1, 1}), Int{0}, row(int64, places),
                                              row(float32, std::vector<Real>(places.size(), 1))});
  };
  const Real ulp = std::ldexp(1.0, -23);  // of numbers just below 2
  EXPECT_EQ(added({0, 1, 2, 3}).verdict_of({2 - ulp, 2, 2, 2}), Verdict::pass);
  EXPECT_EQ(added({0, 1, 2, 3}).verdict_of({2 - 2 * ulp, 2, 2, 2}), Verdict::fail);
  EXPECT_EQ(added({0, 0, 0, 3}).verdict_of({4 - 2 * ulp, 1, 1, 2}), Verdict::pass);
}

TEST(Dot, AResultFarBeyondTheRangeIsInfinite) {
  const Question far = product(float16, {60000, 1}, {60000, 1});
  EXPECT_EQ(far.verdict_of({inf}), Verdict::pass);
  for (const Real got : {0.0, 65504.0, -inf}) EXPECT_EQ(far.verdict_of({got}), Verdict::fail) << got;
}

TEST(Dot, ANegativeDivisorKeepsTheBoundPositive) {
  const Question mean("aten::avg_pool2d.out",
                      {tensor(float32, {1, 1, 1, 2}, {1, 2}), Ints{1, 2}, Ints{}, Ints{0}, false, true, Int{-2}});
  EXPECT_EQ(mean.judge_outs({tensor(float32, {1, 1, 1, 1}, {-1.5})}).verdict, Verdict::pass);
  EXPECT_EQ(mean.judge_outs({tensor(float32, {1, 1, 1, 1}, {1.5})}).verdict, Verdict::fail);
}

TEST(Dot, AcceptsEitherZeroWhereTheRowAllowsIt) {
  EXPECT_EQ(product(float32, {1, 1}, {1, -1}).verdict_of({-0.0}), Verdict::pass);
}

// -- other arithmetic -------------------------------------------------------------------------------------------------

TEST(FlushToZero, AcceptsZeroForSubnormalResults) {
  const Real least = std::ldexp(1.0, -126);
  for (const Question& q :
       {product(float32, {least}, {0.5}), Question("aten::mul.out", {row(float32, {least}), row(float32, {0.5})})}) {
    EXPECT_EQ(q.in(ArithmeticMode::flush_to_zero).verdict_of({0}), Verdict::pass);
    EXPECT_EQ(q.in(ArithmeticMode::flush_to_zero).verdict_of({least / 2}), Verdict::pass);
    EXPECT_EQ(q.in(ArithmeticMode::flush_to_zero).verdict_of({least}), Verdict::fail);
  }
  const Question normal("aten::mul.out", {row(float32, {2 * least}), row(float32, {0.5})});
  EXPECT_EQ(normal.in(ArithmeticMode::flush_to_zero).verdict_of({0}), Verdict::fail);
  const Question subnormal("aten::mul.out", {row(float32, {least}), row(float32, {0.5})});
  EXPECT_EQ(subnormal.verdict_of({0}), Verdict::fail) << "not in IEEE arithmetic";
  EXPECT_EQ(negation(float32, {0}).in(ArithmeticMode::flush_to_zero).verdict_of({0}), Verdict::fail)
      << "the sign of a zero that is none of a flush";
}

TEST(FlushToZero, AcceptsResultsOfFlushedInputs) {
  const Real tiny = std::ldexp(1.0, -130), large = std::ldexp(1.0, 100);
  const Question q("aten::mul.out", {row(float32, {tiny, tiny, 1}), row(float32, {large, large, 3})});
  EXPECT_EQ(q.verdict_of({0, 0, 3}), Verdict::fail);
  const Question flushing = q.in(ArithmeticMode::flush_to_zero);
  EXPECT_EQ(flushing.verdict_of({0, 0, 3}), Verdict::pass);
  EXPECT_EQ(flushing.verdict_of({0, tiny * large, 3}), Verdict::pass) << "each element for itself";
  EXPECT_EQ(flushing.verdict_of({0, 0, 0}), Verdict::fail);
  EXPECT_EQ(flushing.verdict_of({tiny * large / 2, 0, 3}), Verdict::fail);
  const Question compared("aten::eq.Tensor_out", {row(float32, {tiny, 1}), row(float32, {0, 0})});
  EXPECT_EQ(compared.in(ArithmeticMode::flush_to_zero).judge_outs({row(boolean, {1, 0})}).verdict, Verdict::pass);
  EXPECT_EQ(compared.in(ArithmeticMode::flush_to_zero).judge_outs({row(boolean, {1, 1})}).verdict, Verdict::fail);
  EXPECT_EQ(compared.judge_outs({row(boolean, {1, 0})}).verdict, Verdict::fail);
}

TEST(Bool, IsStoredAsZeroOrOne) {
  const Question compared("aten::eq.Tensor_out", {row(float32, {1, 1}), row(float32, {1, 0})});
  Tensor got = row(boolean, {1, 0});
  EXPECT_EQ(compared.judge_outs({got}).verdict, Verdict::pass);
  for (const int stored : {2, 255}) {
    got.bytes[0] = static_cast<std::byte>(stored);
    const Judgement j = compared.judge_outs({got});
    EXPECT_EQ(j.failure, Class::value);
    EXPECT_THAT(j.message, HasSubstr(stored == 2 ? "out at (0) is 0x2, but must be 1" : "is 0xff, but"));
  }
}

TEST(FreeOuts, AreOutsWithUnspecifiedValues) {
  EXPECT_EQ(free_outs(*find_operator("aten::add.out")), FreeOuts{false});
  EXPECT_EQ(free_outs(*find_operator("aten::empty.out")), FreeOuts{true});
  EXPECT_EQ(free_outs(*find_operator("aten::rand.out")), FreeOuts{true});
  EXPECT_EQ(free_outs(*find_operator("llama::update_cache.out")), (FreeOuts{true, false}));
}

// A float16 sum of 4096 ones stops at 2048, which is half of the right result.
TEST(HalfAccumulation, LargePartialSumsAbsorbSmallAddends) {
  const std::vector<Real> ones(4096, 1);
  EXPECT_EQ(product(float16, ones, ones).verdict_of({2048}), Verdict::fail);
  EXPECT_EQ(product(float16, ones, ones).in(ArithmeticMode::half_accumulation).verdict_of({2048}), Verdict::pass);
  EXPECT_EQ(product(float32, ones, ones).in(ArithmeticMode::half_accumulation).verdict_of({2048}), Verdict::fail);
  const std::vector<Real> few(64, 1);  // K u B = 64 * 2^-11 * 64 = 2
  EXPECT_EQ(product(float16, few, few).in(ArithmeticMode::half_accumulation).verdict_of({62}), Verdict::quality);
  EXPECT_EQ(product(float16, few, few).in(ArithmeticMode::half_accumulation).verdict_of({61.5}), Verdict::fail);
  EXPECT_EQ(product(float16, few, few).verdict_of({62}), Verdict::fail);
}

// -- whole tensors ----------------------------------------------------------------------------------------------------

class WholeTensor : public testing::Test {
 protected:
  // Sines in float64; each may be off by 2 ulp.
  static Question sines(std::size_t n) {
    std::vector<Real> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(0.3 + 0.002 * static_cast<Real>(i));
    return {"aten::sin.out", {row(float64, values)}};
  }
  static Real sign(std::size_t i) { return i % 2 == 0 ? 1 : -1; }
};

TEST_F(WholeTensor, ErrorsThatAverageOutBelowTheBoundPass) {
  EXPECT_EQ(sines(512).verdict_when_off_by([](std::size_t i) { return sign(i); }), Verdict::pass);
}

TEST_F(WholeTensor, RefusesErrorsOfOneSign) {
  EXPECT_EQ(sines(512).verdict_when_off_by([](std::size_t) { return 1; }), Verdict::quality);
  EXPECT_EQ(sines(512).verdict_when_off_by([](std::size_t i) { return i % 3 == 0 ? 1 : 0; }), Verdict::pass);
  EXPECT_EQ(sines(255).verdict_when_off_by([](std::size_t) { return 1; }), Verdict::pass) << "too few to tell";
}

TEST_F(WholeTensor, RefusesManyErrorsNearTheBound) {
  EXPECT_EQ(sines(512).verdict_when_off_by([](std::size_t i) { return 2 * sign(i); }), Verdict::quality);
  EXPECT_EQ(sines(512).verdict_when_off_by([](std::size_t i) { return i % 8 < 2 ? 2 * sign(i) : 0; }), Verdict::pass);
  EXPECT_EQ(sines(255).verdict_when_off_by([](std::size_t i) { return 2 * sign(i); }), Verdict::pass)
      << "too few to tell";
}

// -- properties besides values ----------------------------------------------------------------------------------------

TEST(Metadata, MustHaveTheExpectedDtypeSizesAndDimOrder) {
  const Question q("aten::neg.out", {tensor(float32, {1, 2}, {1, 2})});
  EXPECT_EQ(q.judge_outs({tensor(float64, {1, 2}, {-1, -2})}).failure, Class::dtype);
  EXPECT_EQ(q.judge_outs({tensor(float32, {2, 1}, {-1, -2})}).failure, Class::shape);
  EXPECT_EQ(q.judge_outs({tensor(float32, {1, 2}, {1, 0}, {-1, -2})}).failure, Class::layout);
  EXPECT_EQ(q.judge_outs({}).failure, Class::shape);
}

TEST(Metadata, IsJudgedAloneIfValuesAreUnspecified) {
  const Question q("aten::empty.out", {Ints{2}, Value{}, tensor(float32, {2}, {0, 0})});
  EXPECT_EQ(q.verdict_of({nan, 7}), Verdict::pass);
  EXPECT_EQ(q.judge_outs({tensor(float32, {1}, {0})}).failure, Class::shape);
}

TEST(Refusals, AreJudgedToo) {
  const Question valid = negation(float32, {1}), invalid("aten::neg.out", {tensor(boolean, {1}, {1})});
  Reaction refused;
  refused.outcome = Outcome::invalid;
  EXPECT_EQ(valid.judge_reaction(refused).failure, Class::refused_though_valid);
  EXPECT_EQ(invalid.judge_reaction(refused).verdict, Verdict::pass);
  refused.allowed = Refusals::all;
  EXPECT_EQ(valid.judge_reaction(refused).verdict, Verdict::unsupported);
  refused.outcome = Outcome::unsupported, refused.allowed = Refusals::unsupported;
  EXPECT_EQ(valid.judge_reaction(refused).verdict, Verdict::unsupported);
  EXPECT_EQ(invalid.judge_reaction(refused).verdict, Verdict::pass);
  refused.allowed = Refusals::none;
  EXPECT_EQ(valid.judge_reaction(refused).failure, Class::refused_though_valid);
  const Judgement accepted = invalid.judge_outs({tensor(boolean, {1}, {0})});
  EXPECT_EQ(accepted.failure, Class::accepted_though_invalid);
  EXPECT_EQ(accepted.rule.rfind("neg.", 0), 0u) << accepted.rule;
}

TEST(Choice, EveryAllowedAnswerIsRight) {
  const Question q("aten::sort.values", {row(float32, {2, 1, 1}), Int{0}, false});
  const Tensor sorted = row(float32, {1, 1, 2});
  EXPECT_EQ(q.judge_outs({sorted, tensor<Int>(int64, {3}, {1, 2, 0})}).verdict, Verdict::pass);
  EXPECT_EQ(q.judge_outs({sorted, tensor<Int>(int64, {3}, {2, 1, 0})}).verdict, Verdict::pass);
  EXPECT_EQ(q.judge_outs({sorted, tensor<Int>(int64, {3}, {1, 1, 0})}).verdict, Verdict::fail);
}

TEST(Choice, AStableSortHasOneRightAnswer) {
  const Tensor sorted = row(float32, {1, 1, 2}), in_order = tensor<Int>(int64, {3}, {1, 2, 0}),
               swapped = tensor<Int>(int64, {3}, {2, 1, 0});
  const auto verdict = [&](Value stable, const Tensor& indices) {
    const Question q("aten::sort.values_stable", {row(float32, {2, 1, 1}), stable, Int{0}, false});
    return q.judge_outs({sorted, indices}).verdict;
  };
  EXPECT_EQ(verdict(true, in_order), Verdict::pass);
  EXPECT_EQ(verdict(true, swapped), Verdict::fail);
  EXPECT_EQ(verdict(false, swapped), Verdict::pass);
  EXPECT_EQ(verdict(Value{}, swapped), Verdict::pass);
}

TEST(Choice, AMedianMayBeAnyOfEqualElements) {
  const Question q("aten::median.dim_values", {row(float32, {2, 1, 1, 0}), Int{0}, false});
  const auto verdict = [&](Real value, Int index) {
    return q.judge_outs({tensor(float32, {}, {value}), tensor<Int>(int64, {}, {index})}).verdict;
  };
  EXPECT_EQ(verdict(1, 1), Verdict::pass);
  EXPECT_EQ(verdict(1, 2), Verdict::pass);
  EXPECT_EQ(verdict(1, 0), Verdict::fail);
  EXPECT_EQ(verdict(0, 3), Verdict::fail);
}

// -- random numbers ---------------------------------------------------------------------------------------------------

std::vector<Real> numbers(std::size_t n, Real (*f)(Real)) {
  std::vector<Real> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(f(static_cast<Real>(i)));
  return all;
}

TEST(RandomNumbers, UniformNumbersCoverTheirRange) {
  const auto verdict = [](const std::vector<Real>& drawn) {
    const Ints size{static_cast<Int>(drawn.size())};
    return Question("aten::rand.out", {size, Value{}}).judge_outs({row(float32, drawn)}).verdict;
  };
  EXPECT_EQ(verdict(numbers(256, [](Real i) { return i / 256; })), Verdict::pass);
  EXPECT_EQ(verdict(numbers(256, [](Real i) { return i / 2560; })), Verdict::fail) << "their mean is 0.05";
  EXPECT_EQ(verdict(numbers(256, [](Real i) { return i / 255; })), Verdict::fail) << "1 is none of them";
  EXPECT_EQ(verdict({0, 0, 0}), Verdict::fail);
  EXPECT_EQ(verdict({0, 0}), Verdict::pass) << "too few to tell";
  EXPECT_EQ(verdict({}), Verdict::pass);
}

TEST(RandomNumbers, NormalNumbersAreSpreadAroundZero) {
  const auto verdict = [](const std::vector<Real>& drawn) {
    const Ints size{static_cast<Int>(drawn.size())};
    return Question("aten::randn.out", {size, Value{}}).judge_outs({row(float32, drawn)}).verdict;
  };
  EXPECT_EQ(verdict(numbers(256, [](Real i) { return i / 128 - 1; })), Verdict::pass);
  EXPECT_EQ(verdict(numbers(256, [](Real i) { return i / 128; })), Verdict::fail) << "their mean is 1";
  EXPECT_EQ(verdict({0, 0, 0}), Verdict::fail);
  EXPECT_EQ(verdict({0, nan, 1}), Verdict::fail);
}

TEST(RandomNumbers, PermutationsAreNotInOrder) {
  const auto verdict = [](Int n, const std::vector<Int>& drawn) {
    return Question("aten::randperm.out", {n, Value{}}).judge_outs({tensor<Int>(int64, {n}, drawn)}).verdict;
  };
  std::vector<Int> all(20);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(verdict(20, all), Verdict::fail);
  std::swap(all[0], all[1]);
  EXPECT_EQ(verdict(20, all), Verdict::pass);
  EXPECT_EQ(verdict(3, {0, 1, 2}), Verdict::pass) << "too few to tell";
}

TEST(RandomNumbers, DropoutKeepsTheStatedShare) {
  const auto verdict = [](Real (*mask)(Real)) {
    const std::vector<Real> kept = numbers(256, mask);
    std::vector<Real> scaled = kept;
    for (Real& x : scaled) x *= 2;
    const Question q("aten::native_dropout.out",
                     {row(float32, std::vector<Real>(256, 1)), 0.5, true, Value{}, Value{}});
    return q.judge_outs({row(float32, scaled), row(boolean, kept)}).verdict;
  };
  EXPECT_EQ(verdict([](Real i) { return std::fmod(i, 2); }), Verdict::pass);
  EXPECT_EQ(verdict([](Real) -> Real { return 1; }), Verdict::fail);
  EXPECT_EQ(verdict([](Real) -> Real { return 0; }), Verdict::fail);
}

}  // namespace judge_test
}  // namespace assay
