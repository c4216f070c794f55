#include <gtest/gtest.h>

#include <limits>

#include "conformance/adapters/optimized/client.h"
#include "tests/support/methods.h"

// What the optimized runtime refuses, the reference refuses by the same rule.
namespace assay {
namespace optimized_rules_test {

std::string rule_in_optimized(const ProgramBuilder& program, const std::vector<Value>& inputs, bool as_written,
                              Int instructions = 0) {
  const Bytes file = program.bytes();
  try {
    adapters::OptimizedClient client(file, {}, {.as_written = as_written, .instructions = instructions});
    client.call("forward", inputs);
    return "";
  } catch (const Fault& fault) {
    return fault.rule;
  }
}

// The rule by which both refuse the program with these inputs; "" if they do not.
std::string rule_of_both(const ProgramBuilder& program, const std::vector<Value>& inputs = {}) {
  std::string rule = broken(program, inputs);
  for (const bool as_written : {false, true}) EXPECT_EQ(rule_in_optimized(program, inputs, as_written), rule);
  return rule;
}

// A copy to another dtype. No kernel reads its second argument, non_blocking.
struct Copy {
  ProgramBuilder program;
  PlanBuilder plan = program.method();

  template <class NonBlocking>
  explicit Copy(NonBlocking non_blocking) {
    const auto from = plan.constant(float32, {2}, program.constant(bytes_of({1, 2}))), to = plan.planned(float64, {2});
    plan.call("dim_order_ops::_to_dim_order_copy.out", {from, non_blocking(plan), plan.integers({0}), to, to});
    plan.plan().outputs = {to};
  }
};

TEST(OptimizedRules, ANumberOfTheFileMustHaveTheTypeOfTheSchema) {
  const auto rule = [](auto non_blocking) { return rule_of_both(Copy(non_blocking).program); };
  EXPECT_EQ(rule([](PlanBuilder& p) { return p.boolean(false); }), "");
  EXPECT_EQ(rule([](PlanBuilder& p) { return p.integer(0); }), "I10");
  EXPECT_EQ(rule([](PlanBuilder& p) { return p.real(0); }), "I10");
  EXPECT_EQ(rule([](PlanBuilder& p) { return p.none(); }), "I10");
}

TEST(OptimizedRules, ANumberOfTheCallerMustHaveTheTypeOfTheSchema) {
  Copy copy([](PlanBuilder& p) { return p.none(); });
  copy.plan.plan().inputs = {2};
  const auto rule = [&](const Value& non_blocking) { return rule_of_both(copy.program, {non_blocking}); };
  EXPECT_EQ(rule(true), "");
  EXPECT_EQ(rule(Int{0}), "I10");
  EXPECT_EQ(rule(0.0), "I10");
  EXPECT_EQ(rule(Value()), "I10");
  EXPECT_EQ(rule(std::string("yes")), "I10");
}

TEST(OptimizedRules, AFloatMayBeAnIntegerAndAScalarAnyNumber) {
  const auto filled = [](const Value& number) {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    const auto to = plan.planned(float32, {2}), given = plan.none();
    plan.call("aten::full.out", {plan.integers({2}), given, to, to});
    plan.plan().inputs = {given}, plan.plan().outputs = {to};
    return rule_of_both(program, {number});
  };
  for (const Value& number : {Value(true), Value(Int{1}), Value(1.0)}) EXPECT_EQ(filled(number), "");
  EXPECT_EQ(filled(Value()), "I10");
}

// A method needs the bytes of a planned memory that its tensors occupy, however large the plan makes that memory.
TEST(OptimizedRules, PlannedMemoryThatNoTensorOccupiesIsFree) {
  constexpr Int most = std::numeric_limits<Int>::max();
  const auto rule = [](Int occupied, Int empty) {
    Copy copy([](PlanBuilder& p) { return p.boolean(false); });
    copy.plan.plan().non_const_buffer_sizes = {0, occupied, empty};
    return rule_of_both(copy.program);
  };
  EXPECT_EQ(rule(16, 0), "");
  EXPECT_EQ(rule(most, 0), "");
  EXPECT_EQ(rule(16, Int{30} << 30), "");
  EXPECT_EQ(rule(15, most - 15), "T11");
}

TEST(OptimizedRules, ASizeOfAViewMustBeAnInteger) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto from = plan.constant(float32, {2}, program.constant(bytes_of({1, 2}))), size = plan.none();
  const auto view = plan.tensor(float32, {2}), sizes = plan.list<pte::IntListT>(std::vector<std::int64_t>{size});
  plan.call("executorch_prim::et_view.default", {from, sizes, view});
  plan.plan().inputs = {size}, plan.plan().outputs = {view};
  EXPECT_EQ(rule_of_both(program, {Int{2}}), "");
  EXPECT_EQ(rule_of_both(program, {2.0}), "V3");
  EXPECT_EQ(rule_of_both(program, {Int{3}}), "I11");
}

// Without the reference, the runtime names another rule, but the same place. The outcome is `invalid` for each rule.
TEST(OptimizedRules, ARefusalHasItsPlaceAlsoWithoutTheReference) {
  struct Case {
    const char* rule;
    Outcome outcome;
    Real index;
  };
  for (const Case& c : {Case{"embedding.D1", Outcome::fault, 7}, Case{"", Outcome::ok, 1}}) {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    const auto weight = plan.constant(float32, {2, 1}, program.constant(bytes_of({1, 2})));
    const auto indices = plan.tensor(int64, {1}), out = plan.planned(float32, {1, 1});
    plan.plan().inputs = {indices}, plan.plan().outputs = {out};
    plan.call("aten::embedding.out",
              {weight, indices, plan.integer(-1), plan.boolean(false), plan.boolean(false), out, out});
    const Bytes file = program.bytes();
    const auto refusal = [&](bool deployable) {
      Fault refused(Outcome::ok, "", "");
      try {
        adapters::OptimizedClient(file, {}, {.deployable = deployable})
            .call("forward", std::vector<Value>{tensor(int64, {1}, {c.index})});
      } catch (const Fault& fault) {
        refused = fault;
      }
      return refused;
    };
    const Fault worded = refusal(false), plain = refusal(true);
    EXPECT_EQ(worded.rule, c.rule);
    EXPECT_EQ(worded.outcome, c.outcome);
    EXPECT_EQ(plain.outcome, c.outcome == Outcome::ok ? Outcome::ok : Outcome::invalid);
    EXPECT_EQ(plain.place, worded.place);
    if (c.outcome != Outcome::ok) EXPECT_EQ(plain.rule, "I11");
  }
}

TEST(OptimizedRules, DelegatedProgramsNestAtMostEightDeep) {
  const auto rule = [](int depth) {
    ProgramBuilder program;
    program.method().new_chain();
    for (; depth > 0; --depth) program = delegating(program.bytes());
    return rule_of_both(program);
  };
  EXPECT_EQ(rule(8), "");
  EXPECT_EQ(rule(9), "D6");
}

// Each level has one instruction; the innermost level has any number.
TEST(OptimizedRules, InstructionsOfDelegatesCountTowardsTheLimit) {
  const auto rule = [](int levels, int innermost) {
    ProgramBuilder program = moving(innermost);
    for (; levels > 0; --levels) program = delegating(program.bytes());
    RuntimeOptions options;
    options.instructions = 100;
    const std::string by = broken(program, {}, options);
    EXPECT_EQ(rule_in_optimized(program, {}, true, options.instructions), by);
    return by;
  };
  EXPECT_EQ(rule(1, 99), "");
  EXPECT_EQ(rule(1, 100), "I17");
  EXPECT_EQ(rule(2, 98), "");
  EXPECT_EQ(rule(2, 99), "I17");
}

// An unbounded tensor has as many elements as its memory holds. Where the plan places it, its size is planned. Else the
// client's memory is what the declared sizes need.
TEST(OptimizedRules, AnUnboundedTensorHasItsPlannedMemory) {
  using enum pte::TensorShapeDynamism;
  const auto rule = [](bool planned, std::vector<Real> input, auto run) {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    const auto x = planned ? plan.planned(float32, {2}) : plan.tensor(float32, {2});
    const auto out = planned ? plan.planned(float32, {2}, 2) : plan.tensor(float32, {2});
    plan.at(x).shape_dynamism = plan.at(out).shape_dynamism = DYNAMIC_UNBOUND;
    plan.plan().inputs = {x}, plan.plan().outputs = {out};
    plan.add_tensors(x, x, out);
    return run(program, std::vector<Value>{floats(input)});
  };
  const auto in_optimized = [](const ProgramBuilder& program, const std::vector<Value>& inputs) {
    return rule_in_optimized(program, inputs, false);
  };
  for (const bool planned : {false, true})
    for (const std::vector<Real>& fits : {std::vector<Real>{1}, {1, 2}})
      EXPECT_EQ(rule(planned, fits, rule_of_both), "");
  EXPECT_EQ(rule(true, {1, 2, 3}, rule_of_both), "R1");
  EXPECT_EQ(rule(false, {1, 2, 3}, in_optimized), "V4");
}

// Only the reference knows how many elements were written.
TEST(OptimizedRules, ADelegateReadsOnlyElementsInMemory) {
  using enum pte::TensorShapeDynamism;
  ProgramBuilder inner, program;
  PlanBuilder inner_plan = inner.method(), plan = program.method();
  inner_plan.plan().inputs = {inner_plan.tensor(float32, {2}, DYNAMIC_UNBOUND)};
  inner_plan.new_chain();
  plan.delegate("ProgramBackend", pte::DataLocation::SEGMENT, program.segment(inner.bytes()));
  plan.delegate_call(0, {plan.tensor(float32, {2}, DYNAMIC_UNBOUND)});
  EXPECT_EQ(broken(program), "T16");
  EXPECT_EQ(rule_in_optimized(program, {}, false), "");
}

}  // namespace optimized_rules_test
}  // namespace assay
