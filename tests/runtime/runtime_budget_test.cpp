#include <gmock/gmock-matchers.h>

#include "tests/support/methods.h"

// One budget pays for everything that a loaded program uses: memory and work, and those of its delegates.
namespace assay {
namespace runtime_budget_test {

RuntimeOptions within(Budget::Limits limits) { return {.budget = Budget(limits)}; }

TEST(RuntimeBudget, ALoopRunsOutOfWork) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.state(float32, {512, 512}), out = plan.planned(float32, {512, 512}, 2);
  const auto done = plan.boolean(false);
  plan.call("aten::mm.out", {x, x, out, out});
  plan.call("executorch_prim::eq.Scalar", {plan.integer(1), plan.integer(2), done});
  plan.jump_if_false(done, 0);
  EXPECT_EQ(broken(program, {}, within({.work = 100'000'000})), "limits.work");
}

TEST(RuntimeBudget, InstructionsAreChargedAsWork) {
  const ProgramBuilder program = moving(1000);
  const RuntimeOptions options = within({.work = 2'000'000});
  EXPECT_EQ(broken(program, {}, options), "");
  EXPECT_EQ(broken(program, {}, options), "limits.work") << "the budget is shared";
}

TEST(RuntimeBudget, AListThatRepeatsATensorIsChargedForEachItem) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.state(float32, {1024, 1024}),
             out = plan.tensor(float32, {1}, pte::TensorShapeDynamism::DYNAMIC_UNBOUND);
  plan.call("aten::cat.out",
            {plan.list<pte::TensorListT>(std::vector<PlanBuilder::Index>(4096, x)), plan.integer(0), out, out});
  EXPECT_EQ(broken(program, {}, within({.bytes = 1 << 26})), "limits.memory");
}

TEST(RuntimeBudget, MemoryIsTakenOnceAndGivenBack) {
  const RuntimeOptions options = within({.bytes = 1 << 20});
  for (int again = 0; again < 100; ++again) EXPECT_EQ(broken(delegating(moving(10).bytes()), {}, options), "");
  EXPECT_EQ(options.budget.left().bytes, 1 << 20);
}

TEST(RuntimeBudget, InstructionsOfDelegatesCountTowardsTheLimit) {
  RuntimeOptions options;
  options.instructions = 100;
  EXPECT_EQ(broken(delegating(moving(99).bytes()), {}, options), "");
  EXPECT_EQ(broken(delegating(moving(100).bytes()), {}, options), "I17");
  EXPECT_EQ(broken(delegating(moving(10).bytes(), true), {}, options), "I17");
  EXPECT_EQ(broken(delegating(delegating(moving(98).bytes()).bytes()), {}, options), "");
  EXPECT_EQ(broken(delegating(delegating(moving(99).bytes()).bytes()), {}, options), "I17");
}

TEST(RuntimeBudget, TheLimitOfInstructionsIsPerExecution) {
  RuntimeOptions options;
  options.instructions = 100;
  Method method = ready(delegating(moving(99).bytes()), options);
  for (int again = 0; again < 3; ++again) EXPECT_EQ(rule(method.execute()), "");
}

// A payload in a segment is read in place: at any depth, its constants are not copied.
TEST(RuntimeBudget, APayloadIsNotCopied) {
  ProgramBuilder bulky = moving(1);
  bulky.constant(Bytes(8 << 20));
  Bytes program = bulky.bytes();
  for (int depth = 1; depth <= deepest_nesting; ++depth) program = delegating(program).bytes();
  const RuntimeOptions options = within({.bytes = 1 << 20});
  const auto loaded = LoadedProgram::load(borrowed(program), {}, options);
  ASSERT_TRUE(loaded) << loaded.faults[0].message;
  EXPECT_TRUE(loaded->method("forward"));
}

TEST(RuntimeBudget, ValuesAreChargedAsMemory) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  for (int i = 0; i < 10'000; ++i) plan.tensor(float32, {});
  plan.new_chain();
  EXPECT_EQ(broken(program, {}, within({.bytes = 10'000 * 100})), "limits.memory");
}

}  // namespace runtime_budget_test
}  // namespace assay
