#include "conformance/sandbox/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "conformance/adapters/reference_library.h"
#include "conformance/sandbox/heap.h"
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

float* data(testee::HostValue& v) { return reinterpret_cast<float*>(std::get<testee::TensorView>(v).data); }

// A library that adds and has one fault.
class BadLibrary : public testee::KernelLibrary {
 public:
  using Deed = std::function<testee::Reply(std::span<testee::HostValue>)>;
  explicit BadLibrary(Deed deed) : deed_(std::move(deed)) {}
  std::string_view name() const override { return "bad"; }
  bool has(const Operator&) const override { return true; }
  testee::Reply call(const Operator&, std::span<testee::HostValue> a) override {
    std::get<testee::TensorView>(a[3]).sizes = Dims{3};
    for (std::size_t i = 0; i < 3; ++i) data(a[3])[i] = data(a[0])[i] + data(a[1])[i];
    return deed_(a);
  }

 private:
  Deed deed_;
};

sandbox::Observation observe_add(BadLibrary::Deed deed, std::uint64_t seed = 1,
                                 std::vector<Value> arguments = add_arguments()) {
  BadLibrary library(std::move(deed));
  sandbox::Probe probe(library);
  probe.handle_faults();
  return probe.observe(add(), arguments, sandbox::plan_outs(add(), arguments), seed);
}

std::vector<Value> add_whole_blocks() {  // the tensors end at guard pages
  const Tensor four = floats({4}, {1, 2, 3, 4});
  return {four, four, Int{1}, four};
}

// The call reads one element that it does not need.
BadLibrary::Deed reads(std::ptrdiff_t element) {
  return [element](auto a) {
    static_cast<void>(const_cast<const volatile float*>(data(a[1]))[element]);
    return testee::Reply{};
  };
}

TEST(Observe, ReportsTheAnswerOfAGoodCall) {
  const sandbox::Observation seen = observe_add([](auto) { return testee::Reply{}; });
  EXPECT_EQ(seen.reply.outcome, Outcome::ok);
  EXPECT_EQ(seen.conduct, verdict::Class::none) << seen.violation;
  EXPECT_FALSE(seen.spoilt);
  EXPECT_GT(seen.seconds, 0);
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{11, 22, 33}));
}

TEST(Observe, DetectsAWriteBehindABuffer) {
  const sandbox::Observation seen = observe_add([](auto a) { return data(a[3])[3] = 1, testee::Reply{}; });
  EXPECT_EQ(seen.conduct, verdict::Class::writes_out_of_bounds);
  EXPECT_EQ(seen.violation, "4 bytes behind out are overwritten, the nearest 0 bytes from its end, with 00 00 80 3f");
  EXPECT_TRUE(seen.spoilt);
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{11, 22, 33}));
}

TEST(Observe, DetectsAWriteBeforeABuffer) {
  const sandbox::Observation seen = observe_add([](auto a) { return data(a[1])[-2] = 1, testee::Reply{}; });
  EXPECT_EQ(seen.violation,
            "4 bytes before other are overwritten, the nearest 4 bytes from its start, with 00 00 80 3f");
}

TEST(Observe, DetectsDamageByARefusedCall) {
  const sandbox::Observation seen = observe_add([](auto a) {
    return data(a[3])[3] = 1, testee::Reply{Outcome::invalid, "no"};
  });
  EXPECT_EQ(seen.reply.outcome, Outcome::invalid);
  EXPECT_TRUE(seen.spoilt);
}

TEST(Observe, DetectsUnwrittenElements) {
  class Lazy : public testee::KernelLibrary {
    std::string_view name() const override { return "lazy"; }
    bool has(const Operator&) const override { return true; }
    testee::Reply call(const Operator&, std::span<testee::HostValue> a) override {
      return data(a[3])[0] = 11, testee::Reply{};
    }
  } lazy;
  const std::vector<Value> arguments = add_arguments();
  const sandbox::Observation left =
      sandbox::Probe(lazy).observe(add(), arguments, sandbox::plan_outs(add(), arguments));
  EXPECT_EQ(left.conduct, verdict::Class::unwritten);
  EXPECT_EQ(left.violation, "2 elements were never written, the first is element 1 of out 0");
}

TEST(Observe, DetectsAChangedInput) {
  const sandbox::Observation other = observe_add([](auto a) { return data(a[1])[2] = 5, testee::Reply{}; });
  EXPECT_EQ(other.conduct, verdict::Class::changes_input);
  EXPECT_EQ(other.violation, "other was changed by the call");
  EXPECT_FALSE(other.spoilt);
  EXPECT_EQ(observe_add([](auto a) {
              return data(a[0])[0] = 5, testee::Reply{Outcome::invalid, ""};
            }).violation,
            "self was changed by the call");
}

TEST(Observe, DetectsADifferentSecondAnswer) {
  const auto calls = std::make_shared<int>(0);
  const auto class_of = [&](BadLibrary::Deed deed) { return *calls = 0, observe_add(std::move(deed)).conduct; };
  EXPECT_EQ(class_of([calls](auto a) { return data(a[3])[1] = static_cast<float>(++*calls), testee::Reply{}; }),
            verdict::Class::not_repeatable);
  EXPECT_EQ(class_of([calls](auto) {
              return testee::Reply{++*calls > 1 ? Outcome::invalid : Outcome::ok, ""};
            }),
            verdict::Class::not_repeatable);
  EXPECT_EQ(class_of([calls](auto) {
              return testee::Reply{Outcome::invalid, concat("words of call ", ++*calls)};
            }),
            verdict::Class::none);
}

TEST(Observe, DetectsAViolationInTheSecondCall) {
  const auto calls = std::make_shared<int>(0);
  EXPECT_EQ(observe_add([calls](auto a) { return data(a[++*calls == 2 ? 1 : 3])[0] = 11, testee::Reply{}; }).conduct,
            verdict::Class::changes_input);
  *calls = 0;
  EXPECT_TRUE(
      observe_add([calls](auto a) { return data(a[3])[++*calls == 2 ? 3 : 0] = 11, testee::Reply{}; }, 2).spoilt);
}

TEST(Observe, FreeValuesNeedNotBeEqual) {
  const auto calls = std::make_shared<int>(0);
  const auto class_of = [&](BadLibrary::Deed deed) {
    *calls = 0;
    BadLibrary library(std::move(deed));
    const std::vector<Value> arguments = add_arguments();
    return sandbox::Probe(library).observe(add(), arguments, sandbox::plan_outs(add(), arguments), 1, {true}).conduct;
  };
  EXPECT_EQ(class_of([calls](auto a) { return data(a[3])[1] = static_cast<float>(++*calls), testee::Reply{}; }),
            verdict::Class::none);
  EXPECT_EQ(class_of([calls](auto a) {
              return std::get<testee::TensorView>(a[3]).sizes = Dims{std::min(++*calls, 3)}, testee::Reply{};
            }),
            verdict::Class::not_repeatable);
}

// One of two outs is free: any value is right. The probe still notices if the other out is unwritten, or differs in the
// next call.
TEST(Observe, OneOutMayHaveFreeValues) {
  class FirstAlone : public testee::KernelLibrary {
   public:
    std::string_view name() const override { return "first alone"; }
    bool has(const Operator&) const override { return true; }
    testee::Reply call(const Operator&, std::span<testee::HostValue> a) override {
      return data(a[5])[0] = calls_++, testee::Reply{};
    }

   private:
    float calls_ = 0;
  };
  const Operator& op = *find_operator("aten::topk.values");
  const std::vector<Value> arguments{floats({3}, {3, 2, 1}), Int{1}, Int{-1}, true, true, Value{}, Value{}};
  const sandbox::OutPlan plan{{{DType::float32, {1}, {0}}}, {{DType::int64, {1}, {0}}}};
  const auto class_of = [&](const sandbox::FreeOuts& free) {
    FirstAlone library;
    return sandbox::Probe(library).observe(op, arguments, plan, 1, free).conduct;
  };
  EXPECT_EQ(class_of({true, false}), verdict::Class::unwritten);
  EXPECT_EQ(class_of({true, true}), verdict::Class::none);
  EXPECT_EQ(class_of({false, true}), verdict::Class::not_repeatable);
}

TEST(Observe, DetectsAReadBehindABuffer) {
  EXPECT_EQ(observe_add([](auto a) { return data(a[3])[0] = data(a[0])[3], testee::Reply{}; }).conduct,
            verdict::Class::reads_uninitialised);
}

TEST(Observe, DetectsADependenceOnAddresses) {
  constexpr std::uint64_t begins_at_a_page = 2;
  const sandbox::Observation seen = observe_add(
      [](auto a) {
        const bool is_aligned = reinterpret_cast<std::uintptr_t>(data(a[0])) % 32 == 0;
        for (int i = 0; i < 3; ++i) data(a[3])[i] = data(a[0])[i] + (is_aligned ? 1.0f : 0.0f);
        return testee::Reply{};
      },
      begins_at_a_page);
  EXPECT_EQ(seen.conduct, verdict::Class::depends_on_addresses);
}

TEST(Observe, DetectsAReadBehindAnInputWithoutUse) {
  const sandbox::Observation seen = observe_add(
      [](auto a) {
        std::get<testee::TensorView>(a[3]).sizes = Dims{4}, data(a[3])[3] = 8;
        return reads(4)(a);
      },
      1, add_whole_blocks());
  EXPECT_EQ(seen.conduct, verdict::Class::reads_out_of_bounds);
  EXPECT_EQ(seen.violation, "memory 0 bytes behind the end of other is read");
  EXPECT_FALSE(seen.spoilt);
}

TEST(Observe, DetectsAReadBeforeAnInputWithoutUse) {
  EXPECT_EQ(observe_add(reads(-1), 2).violation, "memory 4 bytes before the start of other is read");
}

TEST(Observe, DetectsAWriteToAGuardPage) {
  const sandbox::Observation seen =
      observe_add([](auto a) { return data(a[1])[5] = 1, testee::Reply{}; }, 1, add_whole_blocks());
  EXPECT_EQ(seen.conduct, verdict::Class::writes_out_of_bounds);
  EXPECT_EQ(seen.violation, "4 bytes behind other are overwritten, the nearest 4 bytes from its end, with 00 00 80 3f");
  EXPECT_TRUE(seen.spoilt);
}

TEST(Observe, DetectsAnInputThatIsChangedAndRestored) {
  const sandbox::Observation seen = observe_add([](auto a) {
    volatile float* at = data(a[1]);
    const float old = *at;
    *at = 5;
    *at = old;
    return testee::Reply{};
  });
  EXPECT_EQ(seen.conduct, verdict::Class::changes_input);
  EXPECT_EQ(seen.violation, "other was written to by the call");
}

TEST(Observe, DetectsOutsThatAreNotResized) {
  class Keeps : public testee::KernelLibrary {
    std::string_view name() const override { return "keeps"; }
    bool has(const Operator&) const override { return true; }
    testee::Reply call(const Operator&, std::span<testee::HostValue> a) override {
      const Int given = std::get<testee::TensorView>(a[3]).sizes[0];
      for (Int i = 0; i < given && i < 3; ++i) data(a[3])[i] = data(a[0])[i] + data(a[1])[i];
      return {};
    }
  } library;
  const std::vector<Value> arguments = add_arguments();
  const sandbox::Observation larger =
      sandbox::Probe(library).observe(add(), arguments, sandbox::plan_outs(add(), arguments), 1);
  EXPECT_EQ(larger.circumstance, "with outs that come larger");
  EXPECT_EQ(larger.outs.at(0).sizes, Dims{4});
  const sandbox::Observation smaller =
      sandbox::Probe(library).observe(add(), arguments, sandbox::plan_outs(add(), arguments), 2);
  EXPECT_EQ(smaller.circumstance, "with outs that come smaller");
  EXPECT_EQ(smaller.outs.at(0).sizes, Dims{2});
  EXPECT_EQ(observe_add([](auto) { return testee::Reply{}; }).circumstance, "");
}

TEST(Observe, DetectsALeak) {
  if (!sandbox::heap::is_watched) GTEST_SKIP() << "the sanitizer looks for leaks";
  const sandbox::Observation seen = observe_add([](auto) {
    static_cast<volatile char*>(std::malloc(4096))[0] = 1;
    return testee::Reply{};
  });
  EXPECT_EQ(seen.conduct, verdict::Class::leaks);
  EXPECT_EQ(seen.violation, "each of 16 repeats keeps memory, together 65536 bytes");
  static int calls = 0;
  EXPECT_EQ(observe_add([](auto) {
              if (++calls < 8) static_cast<volatile char*>(std::malloc(64))[0] = 1;
              return testee::Reply{};
            }).conduct,
            verdict::Class::none)
      << "a cache that fills up is no leak";
}

TEST(Observe, DetectsAReadOfAnUnwrittenOut) {
  class Accumulates : public testee::KernelLibrary {
    std::string_view name() const override { return "accumulates"; }
    bool has(const Operator&) const override { return true; }
    testee::Reply call(const Operator&, std::span<testee::HostValue> a) override {
      for (int i = 0; i < 3; ++i) data(a[3])[i] += data(a[0])[i];
      return {};
    }
  } accumulates;
  const std::vector<Value> arguments = add_arguments();
  EXPECT_EQ(sandbox::Probe(accumulates).observe(add(), arguments, sandbox::plan_outs(add(), arguments)).conduct,
            verdict::Class::reads_uninitialised);
}

TEST(Observe, ReportsARefusal) {
  const sandbox::Observation seen = observe_add([](auto) { return testee::Reply{Outcome::unsupported, "not today"}; });
  EXPECT_EQ(seen.reply.outcome, Outcome::unsupported);
  EXPECT_EQ(seen.reply.message, "not today");
  EXPECT_TRUE(seen.outs.empty());
  EXPECT_EQ(seen.conduct, verdict::Class::none);
}

TEST(Observe, ReportsAResultSmallerThanItsMemory) {
  const sandbox::Observation seen =
      observe_add([](auto a) { return std::get<testee::TensorView>(a[3]).sizes = Dims{2}, testee::Reply{}; });
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(seen.outs[0].sizes, Dims{2});
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{11, 22}));
}

TEST(Observe, DetectsAnOutResizedBeyondItsMemory) {
  const sandbox::Observation seen =
      observe_add([](auto a) { return std::get<testee::TensorView>(a[3]).sizes = Dims{4}, testee::Reply{}; });
  EXPECT_EQ(seen.violation, "an out of 12 bytes was resized to (4), which takes 16");
}

TEST(Observe, AcceptsAReturnedNumberOfEveryKind) {
  class Rounds : public testee::KernelLibrary {
    std::string_view name() const override { return "rounds"; }
    bool has(const Operator&) const override { return true; }
    testee::Reply call(const Operator&, std::span<testee::HostValue> a) override {
      testee::TensorView& result = std::get<testee::TensorView>(a[1]);
      result.dtype = DType::int64;
      return std::ranges::fill(std::span(result.data, 8), std::byte{0}), testee::Reply{};
    }
  } rounds;
  const Operator& ceil = *find_operator("executorch_prim::ceil.Scalar");
  const std::vector<Value> arguments{std::numeric_limits<double>::infinity(), Value{}};
  const sandbox::Observation seen =
      sandbox::Probe(rounds).observe(ceil, arguments, sandbox::plan_outs(ceil, arguments));
  EXPECT_EQ(seen.conduct, verdict::Class::none);
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(read<Int>(seen.outs[0])[0], 0);
}

TEST(ReferenceLibrary, AnswersThroughGuardedMemory) {
  adapters::ReferenceLibrary reference;
  const std::vector<Value> arguments = add_arguments();
  const sandbox::Observation seen =
      sandbox::Probe(reference).observe(add(), arguments, sandbox::plan_outs(add(), arguments));
  EXPECT_EQ(seen.reply.outcome, Outcome::ok);
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{11, 22, 33}));
  EXPECT_EQ(seen.conduct, verdict::Class::none);
}

TEST(ReferenceLibrary, RefusesWithTheMessageOfTheReference) {
  adapters::ReferenceLibrary reference;
  std::vector<Value> arguments = add_arguments();
  const sandbox::OutPlan plan = sandbox::plan_outs(add(), arguments);
  arguments[1] = floats({2}, {1, 2});
  const sandbox::Observation seen = sandbox::Probe(reference).observe(add(), arguments, plan);
  EXPECT_EQ(seen.reply.outcome, Outcome::invalid);
  EXPECT_NE(seen.reply.message, "");
}

TEST(ReferenceLibrary, AcceptsListsOfInputsAndOuts) {
  const Operator& split = *find_operator("aten::split_copy.Tensor_out");
  std::vector<Value> arguments{floats({4}, {1, 2, 3, 4}), Int{3}, Int{0}, Value{}};
  adapters::ReferenceLibrary reference;
  const sandbox::OutPlan plan{{{DType::float32, {3}, {0}}, {DType::float32, {1}, {0}}}};
  const sandbox::Observation seen = sandbox::Probe(reference).observe(split, arguments, plan);
  EXPECT_EQ(seen.reply.message, "");
  ASSERT_EQ(seen.outs.size(), 2u);
  EXPECT_EQ(values_of(seen.outs[0]), (std::vector<Real>{1, 2, 3}));
  EXPECT_EQ(values_of(seen.outs[1]), (std::vector<Real>{4}));
}

}  // namespace probe_test
}  // namespace assay
