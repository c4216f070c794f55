#include <gmock/gmock.h>

#include "tests/methods.h"

// What planned memory holds: values that were written, inputs, state; nothing else is ever read.
namespace assay {
namespace {

using pte::TensorShapeDynamism;
using testing::ElementsAre;

constexpr auto unbound = TensorShapeDynamism::DYNAMIC_UNBOUND;

TEST(RuntimeMemory, WhatWasOverwrittenIsNotRead) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.tensor(float32, {2}), a = plan.planned(float32, {2}), b = plan.planned(float32, {2}, 1, 4),
             out = plan.planned(float32, {2}, 2);
  plan.plan().inputs = {x}, plan.plan().outputs = {out};
  plan.add_tensors(x, x, a);
  plan.add_tensors(x, x, b);
  plan.add_tensors(a, x, out);
  EXPECT_EQ(broken(program, {floats({1, 2})}), "T13");
}

TEST(RuntimeMemory, NoResultDependsOnWhatMemoryBeganWith) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.tensor(float32, {2}), sum = plan.planned(float32, {2}), state = plan.state(float32, {2}, 1, 8);
  plan.plan().inputs = {x}, plan.plan().outputs = {state};
  plan.add_tensors(x, state, sum);
  plan.add_tensors(sum, x, state);
  for (const unsigned fill : {0u, 0x5au, 0xffu}) {
    RuntimeOptions options;
    options.fill = static_cast<std::byte>(fill);
    Method method = ready(program, options);
    for (const Real n : {1, 2}) {
      EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
      EXPECT_EQ(rule(method.execute()), "");
      EXPECT_THAT(values(method), ElementsAre(2 * n, 4 * n)) << "state begins as zeros";
    }
  }
}

// Where an output is written only if the input is true.
TEST(RuntimeMemory, WhatAnExecutionWroteIsGoneInTheNext) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto which = plan.tensor(boolean, {}), x = plan.constant(float32, {2}, program.constant(bytes_of({1, 2}))),
             out = plan.tensor(float32, {2});
  plan.plan().inputs = {which}, plan.plan().outputs = {out};
  plan.jump_if_false(which, 2);
  plan.add_tensors(x, x, out);
  if (!LoadedProgram::load(in_memory(program.bytes()))) return;  // refused by the analysis of data flow
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, tensor(boolean, {}, {1}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(2, 4));
  EXPECT_EQ(rule(method.set_input(0, tensor(boolean, {}, {0}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_EQ(method.output(0).faults.at(0).rule, "T16");
}

TEST(RuntimeMemory, AnInputThatWasOverwrittenIsSetAgain) {
  for (const bool over : {false, true}) {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    const auto x = plan.planned(float32, {2}), out = plan.planned(float32, {2}, 1, over ? 0 : 8);
    plan.plan().inputs = {x}, plan.plan().outputs = {out};
    plan.add_tensors(x, x, out);
    Method method = ready(program);
    EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
    EXPECT_EQ(rule(method.execute()), "");
    EXPECT_THAT(values(method), ElementsAre(2, 4));
    EXPECT_EQ(rule(method.execute()), over ? "R4" : "");
    EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
    EXPECT_EQ(rule(method.execute()), "");
    EXPECT_THAT(values(method), ElementsAre(2, 4));
  }
}

TEST(RuntimeMemory, AStateOfOneNameIsInitialisedAtEachPlace) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const std::uint32_t initial = program.initial(bytes_of({5, 6}));
  const auto first = plan.planned(float32, {2}, 2), second = plan.planned(float32, {2}, 3),
             out = plan.planned(float32, {2}, 1);
  for (const auto state : {first, second}) {
    plan.at(state).data_buffer_idx = initial;
    plan.extra(state).fully_qualified_name = "state";
  }
  plan.plan().outputs = {out};
  plan.add_tensors(first, second, out);
  if (!LoadedProgram::load(in_memory(program.bytes()))) return;  // refused by the analysis of data flow
  Method method = ready(program);
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(10, 12));
}

TEST(RuntimeMemory, AViewTakesThreeArguments) {
  const auto view = [](std::size_t arguments) {
    return broken_by([=](ProgramBuilder&, PlanBuilder& p) {
      const auto out = p.tensor(float32, {2, 2});
      std::vector<PlanBuilder::Index> args{p.state(float32, {4}), p.integers({2, 2}), out, out};
      args.resize(arguments);
      p.call("executorch_prim::et_view.default", args);
    });
  };
  EXPECT_EQ(view(2), "I9");
  EXPECT_EQ(view(3), "");
  EXPECT_EQ(view(4), "I9");
}

TEST(RuntimeMemory, AViewLiesWhereItsBaseDoes) {
  const auto view = [](std::uint32_t memory, std::uint32_t offset) {
    return broken_by([=](ProgramBuilder&, PlanBuilder& p) {
      const auto x = p.state(float32, {4}), out = p.planned(float32, {2, 2}, memory, offset);
      p.call("executorch_prim::et_view.default", {x, p.integers({2, 2}), out});
    });
  };
  EXPECT_EQ(view(1, 0), "");
  EXPECT_EQ(view(1, 16), "T27");
  EXPECT_EQ(view(2, 0), "T27");
}

TEST(RuntimeMemory, AViewIsNoConstant) {
  EXPECT_EQ(broken_by([](ProgramBuilder& program, PlanBuilder& p) {
              const auto x = p.planned(float32, {2}), c = p.constant(float32, {2}, program.constant(bytes_of({1, 2})));
              p.call("executorch_prim::et_view.default", {x, p.integers({2}), c});
            }),
            "T15");
}

TEST(RuntimeMemory, ARowIsCopiedFromAViewOfWhatGrows) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto rows = plan.tensor(float32, {1, 2}, unbound), x = plan.tensor(float32, {2}),
             view = plan.tensor(float32, {2});
  plan.plan().inputs = {x}, plan.plan().outputs = {rows};
  plan.call("executorch_prim::et_copy_index.tensor", {rows, x, plan.integer(0)});
  plan.call("executorch_prim::et_view.default", {rows, plan.integers({2}), view});
  plan.call("executorch_prim::et_copy_index.tensor", {rows, view, plan.integer(1)});
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(1, 2, 1, 2));
}

// Rows of x at these indices, in order.
std::string rule_of_rows(const std::vector<Int>& indices, TensorShapeDynamism dynamism, std::size_t arguments = 3) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto rows = plan.planned(float32, {3, 2}), x = plan.tensor(float32, {2});
  plan.at(rows).shape_dynamism = dynamism;
  plan.plan().inputs = {x}, plan.plan().outputs = {rows};
  for (const Int i : indices) {
    std::vector<PlanBuilder::Index> args{rows, x, plan.integer(i), x};
    args.resize(arguments);
    plan.call("executorch_prim::et_copy_index.tensor", args);
  }
  return broken(program, {floats({1, 2})});
}

TEST(RuntimeMemory, RowsAreWrittenInOrder) {
  for (const auto dynamism : {TensorShapeDynamism::STATIC, TensorShapeDynamism::DYNAMIC_BOUND}) {
    EXPECT_EQ(rule_of_rows({0, 1, 2}, dynamism), "");
    EXPECT_EQ(rule_of_rows({0, 1, 0, 1, 2}, dynamism), "");
    EXPECT_EQ(rule_of_rows({1}, dynamism), "T16");
    EXPECT_EQ(rule_of_rows({0, 2}, dynamism), "T16");
    EXPECT_EQ(rule_of_rows({0, 1, 2, 3}, dynamism), "T24");
  }
  EXPECT_EQ(rule_of_rows({-1}, TensorShapeDynamism::STATIC), "I11");
  EXPECT_EQ(rule_of_rows({0}, TensorShapeDynamism::STATIC, 2), "I9");
  EXPECT_EQ(rule_of_rows({0}, TensorShapeDynamism::STATIC, 4), "I9");
}

TEST(RuntimeMemory, ATensorHasAllItsRowsWhenItIsRead) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto rows = plan.planned(float32, {2, 2}), x = plan.tensor(float32, {2});
  plan.plan().inputs = {x}, plan.plan().outputs = {rows};
  plan.call("executorch_prim::et_copy_index.tensor", {rows, x, plan.integer(0)});
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_EQ(method.output(0).faults.at(0).rule, "T16");
}

}  // namespace
}  // namespace assay
