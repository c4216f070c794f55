#include <gmock/gmock-matchers.h>

#include "tests/support/methods.h"

// Planned memory holds values that were written, inputs and state; nothing else is ever read.
namespace assay {
namespace runtime_memory_test {

using pte::TensorShapeDynamism;
using testing::ElementsAre;

constexpr auto unbound = TensorShapeDynamism::DYNAMIC_UNBOUND;

TEST(RuntimeMemory, OverwrittenMemoryIsNotRead) {
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

TEST(RuntimeMemory, NoResultDependsOnTheFirstContentsOfMemory) {
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

TEST(RuntimeMemory, AnOutputIsWrittenOnEveryPath) {
  EXPECT_EQ(broken_by([](ProgramBuilder&, PlanBuilder& p) {
              const auto which = p.state(boolean, {}, 2), x = p.state(float32, {2}), out = p.tensor(float32, {2});
              p.plan().outputs = {out};
              p.jump_if_false(which, 2);
              p.add_tensors(x, x, out);
            }),
            "T16");
}

TEST(RuntimeMemory, AnOverwrittenInputMustBeSetAgain) {
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

TEST(RuntimeMemory, StateOfOneNameMustHaveOneOffset) {
  EXPECT_EQ(broken_by([](ProgramBuilder& program, PlanBuilder& p) {
              const std::uint32_t initial = program.initial(bytes_of({5, 6}));
              for (const std::uint32_t memory : {2u, 3u}) {
                const auto state = p.planned(float32, {2}, memory);
                p.at(state).data_buffer_idx = initial;
                p.extra(state).fully_qualified_name = "state";
              }
              p.new_chain();
            }),
            "T26");
}

TEST(RuntimeMemory, AViewMustHaveThreeArguments) {
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

TEST(RuntimeMemory, AViewMustHaveTheBytesOfItsBase) {
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

TEST(RuntimeMemory, AViewMustBeMadeInEachExecution) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.planned(float32, {4}), out = plan.planned(float32, {4}, 2), view = plan.tensor(float32, {2, 2});
  plan.plan().inputs = {x}, plan.plan().outputs = {out};
  plan.add_tensors(x, x, out);
  plan.call("executorch_prim::et_view.default", {x, plan.integers({2, 2}), view});
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2, 3, 4}))), "");
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(rule(method.step()), "");
    EXPECT_FALSE(method.value(static_cast<std::size_t>(view)));
    EXPECT_EQ(rule(method.step()), "");
    EXPECT_TRUE(method.value(static_cast<std::size_t>(view)));
  }
}

TEST(RuntimeMemory, AViewMustNotBeAConstant) {
  EXPECT_EQ(broken_by([](ProgramBuilder& program, PlanBuilder& p) {
              const auto x = p.state(float32, {2}), c = p.constant(float32, {2}, program.constant(bytes_of({1, 2})));
              p.call("executorch_prim::et_view.default", {x, p.integers({2}), c});
            }),
            "T27");
}

TEST(RuntimeMemory, ARowIsNotCopiedFromAViewOfAGrowingTensor) {
  EXPECT_EQ(
      broken_by([](ProgramBuilder&, PlanBuilder& p) {
        const auto rows = p.tensor(float32, {2, 2}, unbound), x = p.state(float32, {2}), view = p.tensor(float32, {2});
        p.call("executorch_prim::et_copy_index.tensor", {rows, x, p.integer(0)});
        p.call("executorch_prim::et_view.default", {rows, p.integers({2}), view});
        p.call("executorch_prim::et_copy_index.tensor", {rows, view, p.integer(0)});
      }),
      "I12");
}

// Adds rows of x at these indices, in order, to a tensor that is state or has the rows that were added.
std::string rule_of_rows(const std::vector<Int>& indices, TensorShapeDynamism dynamism, std::size_t arguments = 3) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const bool fixed = dynamism == TensorShapeDynamism::STATIC;
  const auto rows = fixed ? plan.state(float32, {3, 2}) : plan.planned(float32, {3, 2}), x = plan.tensor(float32, {2});
  plan.at(rows).shape_dynamism = dynamism;
  plan.plan().inputs = {x}, plan.plan().outputs = {rows};
  for (const Int i : indices) {
    std::vector<PlanBuilder::Index> args{rows, x, plan.integer(i), x};
    args.resize(arguments);
    plan.call("executorch_prim::et_copy_index.tensor", args);
  }
  return broken(program, {floats({1, 2})});
}

TEST(RuntimeMemory, RowsMustBeWithinTheTensor) {
  EXPECT_EQ(rule_of_rows({2, 0}, TensorShapeDynamism::STATIC), "");
  EXPECT_EQ(rule_of_rows({3}, TensorShapeDynamism::STATIC), "T24");
  EXPECT_EQ(rule_of_rows({-1}, TensorShapeDynamism::STATIC), "I11");
  EXPECT_EQ(rule_of_rows({0}, TensorShapeDynamism::STATIC, 2), "I9");
  EXPECT_EQ(rule_of_rows({0}, TensorShapeDynamism::STATIC, 4), "I9");
}

TEST(RuntimeMemory, RowsOfAGrowingTensorMustBeAppendedInOrder) {
  EXPECT_EQ(rule_of_rows({0, 0}, TensorShapeDynamism::DYNAMIC_BOUND), "");
  EXPECT_EQ(rule_of_rows({1}, TensorShapeDynamism::DYNAMIC_BOUND), "T16");
  EXPECT_EQ(rule_of_rows({0, 1}, TensorShapeDynamism::DYNAMIC_BOUND), "T16");
}

TEST(RuntimeMemory, ATensorMustHaveAllItsRowsWhenItIsRead) {
  EXPECT_EQ(broken_by([](ProgramBuilder&, PlanBuilder& p) {
              const auto rows = p.planned(float32, {2, 2}), x = p.state(float32, {2}, 2);
              p.plan().outputs = {rows};
              p.call("executorch_prim::et_copy_index.tensor", {rows, x, p.integer(0)});
            }),
            "T16");
}

}  // namespace runtime_memory_test
}  // namespace assay
