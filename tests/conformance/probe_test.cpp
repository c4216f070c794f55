#include "conformance/sandbox/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "conformance/adapters/reference_library.h"
#include "reference/fault.h"
#include "tests/support/tensors.h"

namespace assay {
namespace probe_test {

Tensor floats(const Dims& sizes, std::initializer_list<Real> values) {
  Tensor t = make(DType::float32, sizes);
  Array<Real> a(sizes);
  std::ranges::copy(values, a.data.begin());
  write(a, t);
  return t;
}

const Operator& add() { return *find_operator("aten::add.out"); }

std::vector<Value> add_arguments() {
  return {floats({3}, {1, 2, 3}), floats({3}, {10, 20, 30}), Int{1}, floats({3}, {0, 0, 0})};
}

float* data(HostValue& v) { return reinterpret_cast<float*>(std::get<TensorView>(v).data); }

// A library that adds and has one fault.
class BadLibrary : public KernelLibrary {
 public:
  using Deed = std::function<Reply(std::span<HostValue>)>;
  explicit BadLibrary(Deed deed) : deed_(std::move(deed)) {}
  std::string_view name() const override { return "bad"; }
  bool has(const Operator&) const override { return true; }
  Reply call(const Operator&, std::span<HostValue> a) override {
    for (std::size_t i = 0; i < 3; ++i) data(a[3])[i] = data(a[0])[i] + data(a[1])[i];
    return deed_(a);
  }

 private:
  Deed deed_;
};

Observation observe_add(BadLibrary::Deed deed) {
  BadLibrary library(std::move(deed));
  const std::vector<Value> arguments = add_arguments();
  return Probe(library).observe(add(), arguments, plan_outs(add(), arguments));
}

TEST(Observe, ReportsTheAnswerOfAGoodCall) {
  const Observation seen = observe_add([](auto) { return Reply{}; });
  EXPECT_EQ(seen.reply.outcome, Outcome::ok);
  EXPECT_EQ(seen.conduct, Class::none) << seen.violation;
  EXPECT_FALSE(seen.spoilt);
  EXPECT_GT(seen.seconds, 0);
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{11, 22, 33}));
}

TEST(Observe, DetectsAWriteBehindABuffer) {
  const Observation seen = observe_add([](auto a) { return data(a[3])[3] = 1, Reply{}; });
  EXPECT_EQ(seen.conduct, Class::writes_out_of_bounds);
  EXPECT_EQ(seen.violation, "4 bytes behind out are overwritten, the nearest 0 bytes from its end, with 00 00 80 3f");
  EXPECT_TRUE(seen.spoilt);
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{11, 22, 33}));
}

TEST(Observe, DetectsAWriteBeforeABuffer) {
  const Observation seen = observe_add([](auto a) { return data(a[1])[-2] = 1, Reply{}; });
  EXPECT_EQ(seen.violation,
            "4 bytes before other are overwritten, the nearest 4 bytes from its start, with 00 00 80 3f");
}

TEST(Observe, DetectsDamageByARefusedCall) {
  const Observation seen = observe_add([](auto a) { return data(a[3])[3] = 1, Reply{Outcome::invalid, "no"}; });
  EXPECT_EQ(seen.reply.outcome, Outcome::invalid);
  EXPECT_TRUE(seen.spoilt);
}

TEST(Observe, DetectsUnwrittenElements) {
  class Lazy : public KernelLibrary {
    std::string_view name() const override { return "lazy"; }
    bool has(const Operator&) const override { return true; }
    Reply call(const Operator&, std::span<HostValue> a) override { return data(a[3])[0] = 11, Reply{}; }
  } lazy;
  const std::vector<Value> arguments = add_arguments();
  const Observation left = Probe(lazy).observe(add(), arguments, plan_outs(add(), arguments));
  EXPECT_EQ(left.conduct, Class::unwritten);
  EXPECT_EQ(left.violation, "2 elements were never written, the first is element 1 of out 0");
}

TEST(Observe, DetectsAChangedInput) {
  const Observation other = observe_add([](auto a) { return data(a[1])[2] = 5, Reply{}; });
  EXPECT_EQ(other.conduct, Class::changes_input);
  EXPECT_EQ(other.violation, "other was changed by the call");
  EXPECT_FALSE(other.spoilt);
  EXPECT_EQ(observe_add([](auto a) {
              return data(a[0])[0] = 5, Reply{Outcome::invalid, ""};
            }).violation,
            "self was changed by the call");
}

TEST(Observe, DetectsADifferentSecondAnswer) {
  const auto calls = std::make_shared<int>(0);
  const auto class_of = [&](BadLibrary::Deed deed) { return *calls = 0, observe_add(std::move(deed)).conduct; };
  EXPECT_EQ(class_of([calls](auto a) { return data(a[3])[1] = static_cast<float>(++*calls), Reply{}; }),
            Class::not_repeatable);
  EXPECT_EQ(class_of([calls](auto) {
              return Reply{++*calls > 1 ? Outcome::invalid : Outcome::ok, ""};
            }),
            Class::not_repeatable);
  EXPECT_EQ(class_of([calls](auto) { return Reply{Outcome::invalid, text("words of call ", ++*calls)}; }), Class::none);
}

TEST(Observe, DetectsAViolationInTheSecondCall) {
  const auto calls = std::make_shared<int>(0);
  EXPECT_EQ(observe_add([calls](auto a) { return data(a[++*calls == 2 ? 1 : 3])[0] = 11, Reply{}; }).conduct,
            Class::changes_input);
  *calls = 0;
  EXPECT_TRUE(observe_add([calls](auto a) { return data(a[3])[++*calls == 2 ? 3 : 0] = 11, Reply{}; }).spoilt);
}

TEST(Observe, FreeValuesNeedNotBeEqual) {
  const auto calls = std::make_shared<int>(0);
  const auto class_of = [&](BadLibrary::Deed deed) {
    *calls = 0;
    BadLibrary library(std::move(deed));
    const std::vector<Value> arguments = add_arguments();
    return Probe(library).observe(add(), arguments, plan_outs(add(), arguments), 1, {true}).conduct;
  };
  EXPECT_EQ(class_of([calls](auto a) { return data(a[3])[1] = static_cast<float>(++*calls), Reply{}; }), Class::none);
  EXPECT_EQ(class_of([calls](auto a) { return std::get<TensorView>(a[3]).sizes = Dims{++*calls}, Reply{}; }),
            Class::not_repeatable);
}

// One of two outs is free: any value is right. The probe still notices if the other out is unwritten, or differs in the
// next call.
TEST(Observe, OneOutMayHaveFreeValues) {
  class FirstAlone : public KernelLibrary {
   public:
    std::string_view name() const override { return "first alone"; }
    bool has(const Operator&) const override { return true; }
    Reply call(const Operator&, std::span<HostValue> a) override { return data(a[5])[0] = calls_++, Reply{}; }

   private:
    float calls_ = 0;
  };
  const Operator& op = *find_operator("aten::topk.values");
  const std::vector<Value> arguments{floats({3}, {3, 2, 1}), Int{1}, Int{-1}, true, true, Value{}, Value{}};
  const OutPlan plan{{{DType::float32, {1}, {0}}}, {{DType::int64, {1}, {0}}}};
  const auto class_of = [&](const FreeOuts& free) {
    FirstAlone library;
    return Probe(library).observe(op, arguments, plan, 1, free).conduct;
  };
  EXPECT_EQ(class_of({true, false}), Class::unwritten);
  EXPECT_EQ(class_of({true, true}), Class::none);
  EXPECT_EQ(class_of({false, true}), Class::not_repeatable);
}

TEST(Observe, DetectsAReadBehindABuffer) {
  EXPECT_EQ(observe_add([](auto a) { return data(a[3])[0] = data(a[0])[3], Reply{}; }).conduct,
            Class::reads_uninitialised);
}

TEST(Observe, DetectsAReadOfAnUnwrittenOut) {
  class Accumulates : public KernelLibrary {
    std::string_view name() const override { return "accumulates"; }
    bool has(const Operator&) const override { return true; }
    Reply call(const Operator&, std::span<HostValue> a) override {
      for (int i = 0; i < 3; ++i) data(a[3])[i] += data(a[0])[i];
      return {};
    }
  } accumulates;
  const std::vector<Value> arguments = add_arguments();
  EXPECT_EQ(Probe(accumulates).observe(add(), arguments, plan_outs(add(), arguments)).conduct,
            Class::reads_uninitialised);
}

TEST(Observe, ReportsARefusal) {
  const Observation seen = observe_add([](auto) { return Reply{Outcome::unsupported, "not today"}; });
  EXPECT_EQ(seen.reply.outcome, Outcome::unsupported);
  EXPECT_EQ(seen.reply.message, "not today");
  EXPECT_TRUE(seen.outs.empty());
  EXPECT_EQ(seen.conduct, Class::none);
}

TEST(Observe, ReportsAResultSmallerThanItsMemory) {
  const Observation seen = observe_add([](auto a) { return std::get<TensorView>(a[3]).sizes = Dims{2}, Reply{}; });
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(seen.outs[0].sizes, Dims{2});
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{11, 22}));
}

TEST(Observe, DetectsAnOutResizedBeyondItsMemory) {
  const Observation seen = observe_add([](auto a) { return std::get<TensorView>(a[3]).sizes = Dims{4}, Reply{}; });
  EXPECT_EQ(seen.violation, "an out of 12 bytes was resized to (4), which takes 16");
}

TEST(Observe, AcceptsAReturnedNumberOfEveryKind) {
  class Rounds : public KernelLibrary {
    std::string_view name() const override { return "rounds"; }
    bool has(const Operator&) const override { return true; }
    Reply call(const Operator&, std::span<HostValue> a) override {
      TensorView& result = std::get<TensorView>(a[1]);
      result.dtype = DType::int64;
      return std::ranges::fill(std::span(result.data, 8), std::byte{0}), Reply{};
    }
  } rounds;
  const Operator& ceil = *find_operator("executorch_prim::ceil.Scalar");
  const std::vector<Value> arguments{std::numeric_limits<double>::infinity(), Value{}};
  const Observation seen = Probe(rounds).observe(ceil, arguments, plan_outs(ceil, arguments));
  EXPECT_EQ(seen.conduct, Class::none);
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(read<Int>(seen.outs[0])[0], 0);
}

TEST(ReferenceLibrary, AnswersThroughGuardedMemory) {
  ReferenceLibrary reference;
  const std::vector<Value> arguments = add_arguments();
  const Observation seen = Probe(reference).observe(add(), arguments, plan_outs(add(), arguments));
  EXPECT_EQ(seen.reply.outcome, Outcome::ok);
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{11, 22, 33}));
  EXPECT_EQ(seen.conduct, Class::none);
}

TEST(ReferenceLibrary, RefusesWithTheMessageOfTheReference) {
  ReferenceLibrary reference;
  std::vector<Value> arguments = add_arguments();
  const OutPlan plan = plan_outs(add(), arguments);
  arguments[1] = floats({2}, {1, 2});
  const Observation seen = Probe(reference).observe(add(), arguments, plan);
  EXPECT_EQ(seen.reply.outcome, Outcome::invalid);
  EXPECT_NE(seen.reply.message, "");
}

TEST(ReferenceLibrary, AcceptsListsOfInputsAndOuts) {
  const Operator& split = *find_operator("aten::split_copy.Tensor_out");
  std::vector<Value> arguments{floats({4}, {1, 2, 3, 4}), Int{3}, Int{0}, Value{}};
  ReferenceLibrary reference;
  const OutPlan plan{{{DType::float32, {3}, {0}}, {DType::float32, {1}, {0}}}};
  const Observation seen = Probe(reference).observe(split, arguments, plan);
  EXPECT_EQ(seen.reply.message, "");
  ASSERT_EQ(seen.outs.size(), 2u);
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{1, 2, 3}));
  EXPECT_EQ(values_of(seen.outs[1]), (std::vector<Real>{4}));
}

}  // namespace probe_test
}  // namespace assay
