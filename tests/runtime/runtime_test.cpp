#include <gmock/gmock-matchers.h>

#include "tests/support/methods.h"

// Each rule of running a program, in a program of a few instructions, even where the official exporter never writes
// such a program or writes it only in large ones.
namespace assay {
namespace runtime_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Runtime, RunsAMethod) {
  Method method = ready(Doubling().program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(2, 4));
}

TEST(Runtime, AnInputDeclaredAsNullAcceptsEveryNumber) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  plan.plan().inputs = plan.plan().outputs = {plan.none()};
  plan.new_chain();
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, Int{7})), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_EQ(std::get<Int>(*method.output(0)), 7);
}

TEST(Runtime, BoundedTensorsShrinkAndGrowWithinTheirBound) {
  Method method = ready(Doubling(pte::TensorShapeDynamism::DYNAMIC_BOUND).program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2, 3}))), "R1");
  EXPECT_EQ(rule(method.set_input(0, floats({5}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(10));
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(2, 4));
}

TEST(Runtime, UnboundedTensorsGrow) {
  Method method = ready(Doubling(pte::TensorShapeDynamism::DYNAMIC_UNBOUND).program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2, 3, 4, 5}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(2, 4, 6, 8, 10));
}

TEST(Runtime, AFreedTensorIsUndefinedUntilTheNextWrite) {
  Doubling d;
  const auto freed = d.plan.tensor(float32, {2}, pte::TensorShapeDynamism::DYNAMIC_UNBOUND);
  d.plan.add_tensors(d.x, d.x, freed);
  d.plan.free(freed);
  Method method = ready(d.program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_EQ(method.value(static_cast<std::size_t>(freed)).faults.at(0).rule, "T16");
}

TEST(Runtime, StepsCanBeAbandoned) {
  Doubling d;
  d.plan.add_tensors(d.out, d.out, d.out);
  Method method = ready(d.program);
  EXPECT_EQ(rule(method.step()), "R4");
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.step()), "");
  EXPECT_TRUE(method.running());
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "R6");
  EXPECT_EQ(rule(method.execute()), "R6");
  EXPECT_EQ(rule(method.step()), "");
  EXPECT_FALSE(method.running());
  EXPECT_THAT(values(method), ElementsAre(4, 8));
  EXPECT_EQ(rule(method.step()), "");
  method.reset();
  EXPECT_FALSE(method.running());
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(4, 8));
}

TEST(Runtime, AnEndlessLoopReachesTheLimit) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto done = plan.boolean(false);
  plan.call("executorch_prim::eq.Scalar", {plan.integer(1), plan.integer(2), done});
  plan.jump_if_false(done, 0);
  RuntimeOptions options;
  options.instructions = 1000;
  Method method = ready(program, options);
  const Refusal refused = method.execute();
  EXPECT_EQ(rule(refused), "I17");
  EXPECT_EQ(refused->outcome, Outcome::exhausted);
  EXPECT_FALSE(method.running());
}

TEST(Runtime, AJumpIsTakenIfItsConditionIsFalse) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.tensor(boolean, {2}), chosen = plan.integer(0), one = plan.integer(1), two = plan.integer(2);
  plan.plan().inputs = {x}, plan.plan().outputs = {chosen};
  plan.move(two, chosen);
  plan.jump_if_false(x, 3);
  plan.move(one, chosen);
  Method method = ready(program);
  for (const Real second : {1.0, 0.0}) {
    EXPECT_EQ(rule(method.set_input(0, tensor(boolean, {2}, {1, second}))), "");
    EXPECT_EQ(rule(method.execute()), "");
    EXPECT_EQ(std::get<Int>(*method.output(0)), second == 1 ? 1 : 2);
  }
}

TEST(Runtime, ChainsRunOneAfterAnother) {
  Doubling d;
  d.plan.new_chain();
  d.plan.new_chain();
  d.plan.add_tensors(d.out, d.x, d.out);
  Method method = ready(d.program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(3, 6));
}

// An upper bound on the memory that preparing the method needs.
Int bytes_of_method(const ProgramBuilder& program) {
  RuntimeOptions options;
  EXPECT_TRUE(loaded(program, options).method("forward"));
  return options.budget.used().bytes;
}

TEST(Runtime, MemoryIsLimited) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  plan.planned(float32, {1 << 20});
  plan.new_chain();
  const Int bytes = bytes_of_method(program);
  EXPECT_GE(bytes, 4 << 20);
  RuntimeOptions options;
  options.budget = Budget({.bytes = bytes});
  EXPECT_TRUE(loaded(program, options).method("forward"));
  options.budget = Budget({.bytes = bytes - 1});
  const auto refused = loaded(program, options).method("forward");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.faults[0].outcome, Outcome::exhausted);
}

TEST(Runtime, AMethodReturnsItsMemoryToTheBudget) {
  ProgramBuilder program;
  program.method().planned(float32, {1 << 20});
  program.program().tables.execution_plan[0]->chains.push_back(std::make_unique<pte::ChainT>());
  RuntimeOptions options;
  options.budget = Budget({.bytes = bytes_of_method(program)});
  const LoadedProgram p = loaded(program, options);
  for (int again = 0; again < 3; ++again) EXPECT_TRUE(p.method("forward"));
}

TEST(Runtime, OutputsMayHaveTheCallersMemory) {
  Method method = ready(Doubling().program);
  Bytes memory(8);
  EXPECT_EQ(rule(method.set_output(0, memory)), "");
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_EQ(memory, bytes_of({2, 4}));
}

TEST(Runtime, AViewIsTheSameMemory) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.planned(float32, {4}), view = plan.tensor(float32, {2, 2}),
             copied = plan.planned(float32, {2, 2}, 2);
  plan.plan().inputs = {x}, plan.plan().outputs = {view, copied};
  plan.call("executorch_prim::et_view.default", {x, plan.integers({2, -1}), view});
  plan.add_tensors(view, view, copied);
  plan.add_tensors(x, x, x);
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2, 3, 4}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method, 0), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(values(method, 1), ElementsAre(2, 4, 6, 8));
}

TEST(Runtime, PlansMayShareMemory) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto first = plan.planned(float32, {2}), same = plan.planned(float32, {2}), sum = plan.tensor(float32, {2});
  plan.plan().inputs = {first}, plan.plan().outputs = {same, sum};
  plan.add_tensors(first, same, sum);
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method, 0), ElementsAre(1, 2));
  EXPECT_THAT(values(method, 1), ElementsAre(2, 4));
}

TEST(Runtime, StateBeginsWithItsInitialValueAndIsKept) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto state = plan.planned(float32, {2}),
             step = plan.constant(float32, {2}, program.constant(bytes_of({1, 10})));
  plan.at(state).data_buffer_idx = program.initial(bytes_of({5, 6}));
  plan.plan().outputs = {state};
  plan.add_tensors(state, step, state);
  const LoadedProgram p = loaded(program);
  Method method = std::move(*p.method("forward")), other = std::move(*p.method("forward"));
  for (const Real n : {1.0, 2.0}) {
    EXPECT_EQ(rule(method.execute()), "");
    EXPECT_THAT(values(method), ElementsAre(5 + n, 6 + 10 * n));
  }
  EXPECT_EQ(rule(other.execute()), "");
  EXPECT_THAT(values(other), ElementsAre(6, 16));
}

TEST(Runtime, StateOutsideOfThePlanBeginsAsZeros) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto state = plan.tensor(float32, {2}), step = plan.constant(float32, {2}, program.constant(bytes_of({1, 10})));
  plan.extra(state).fully_qualified_name = "state";
  plan.plan().outputs = {state};
  plan.add_tensors(state, step, state);
  Method method = ready(program);
  for (const Real n : {1.0, 2.0}) {
    EXPECT_EQ(rule(method.execute()), "");
    EXPECT_THAT(values(method), ElementsAre(n, 10 * n));
  }
}

TEST(Runtime, NamedStateOfItsOwnMemoryBelongsToAllMethods) {
  ProgramBuilder program;
  const std::uint32_t initial = program.initial(bytes_of({5, 6}));
  for (const char* name : {"write", "read"}) {
    PlanBuilder plan = program.method(name);
    const auto state = plan.planned(float32, {2}, 2), out = plan.planned(float32, {2}, 1);
    plan.at(state).data_buffer_idx = initial;
    plan.extra(state).fully_qualified_name = "state";
    plan.plan().outputs = {name == std::string("write") ? state : out};
    plan.add_tensors(state, state, plan.plan().outputs[0]);
  }
  const LoadedProgram p = loaded(program);
  Method write = std::move(*p.method("write"));
  EXPECT_EQ(rule(write.execute()), "");
  Method read = std::move(*p.method("read"));
  EXPECT_EQ(rule(read.execute()), "");
  EXPECT_THAT(values(read), ElementsAre(20, 24));
}

TEST(Runtime, AConstantMustNotBeWritten) {
  EXPECT_EQ(broken_by([](ProgramBuilder& program, PlanBuilder& plan) {
              const auto c = plan.constant(float32, {2}, program.constant(bytes_of({1, 2})));
              plan.add_tensors(c, c, c);
            }),
            "T15");
}

TEST(Runtime, OperatorsAreCalledWithTheirArguments) {
  const auto add = [](std::size_t arguments) {
    return broken_by([=](ProgramBuilder&, PlanBuilder& plan) {
      const auto x = plan.state(float32, {2});
      std::vector<PlanBuilder::Index> args{x, x, plan.integer(1), x, x, x};
      args.resize(arguments);
      plan.call("aten::add.out", args);
    });
  };
  EXPECT_EQ(add(3), "I9");
  EXPECT_EQ(add(4), "I9");
  EXPECT_EQ(add(5), "");
  EXPECT_EQ(add(6), "I9");
}

TEST(Runtime, ArgumentsMustHaveTheirTypes) {
  EXPECT_EQ(broken_by([](ProgramBuilder&, PlanBuilder& plan) {
              plan.call("executorch_prim::et_view.default",
                        {plan.integer(1), plan.integers({2}), plan.planned(float32, {2})});
            }),
            "I10");
  EXPECT_EQ(broken_by([](ProgramBuilder&, PlanBuilder& plan) {
              plan.call("executorch_prim::et_view.default",
                        {plan.planned(float32, {2}), plan.integer(2), plan.planned(float32, {2})});
            }),
            "I10");
  EXPECT_EQ(broken_by([](ProgramBuilder&, PlanBuilder& plan) {
              plan.add_tensors(plan.planned(float32, {2}), plan.string("x"), plan.planned(float32, {2}));
            }),
            "I10");
}

TEST(Runtime, AViewHasTheElementsOfItsBase) {
  const auto view = [](const std::vector<Int>& sizes, DType dtype = float32) {
    return broken_by([=](ProgramBuilder&, PlanBuilder& plan) {
      plan.call("executorch_prim::et_view.default",
                {plan.state(float32, {4}), plan.integers(sizes), plan.tensor(dtype, {2, 2})});
    });
  };
  EXPECT_EQ(view({2, 2}), "");
  EXPECT_EQ(view({2, -1}), "");
  EXPECT_EQ(view({-1, -1}), "I11");
  EXPECT_EQ(view({3, -1}), "I11");
  EXPECT_EQ(view({2, 3}), "I11");
  EXPECT_EQ(view({2, 2}, int32), "I11");
  EXPECT_EQ(view({4, 1}), "T24");
  EXPECT_EQ(view({Int{1} << 60, 12}), "I11") << "more elements than an integer counts";
  EXPECT_EQ(view({Int{1} << 60, 12, -1}), "I11");
  EXPECT_EQ(view({-2, 2}), "I11");
  EXPECT_EQ(view(std::vector<Int>(17, 1)), "I11");
}

TEST(Runtime, DelegatesShareTheLimitOfMemory) {
  ProgramBuilder inner, program;
  PlanBuilder inner_plan = inner.method(), plan = program.method();
  const auto large = inner_plan.state(float32, {1 << 20}), small = plan.state(float32, {1});
  inner_plan.add_tensors(large, large, large), plan.add_tensors(small, small, small);
  const Int alone = bytes_of_method(program);
  plan.delegate("ProgramBackend", pte::DataLocation::SEGMENT, program.segment(inner.bytes()));
  EXPECT_GE(bytes_of_method(program), alone + (4 << 20));
  RuntimeOptions options;
  options.budget = Budget({.bytes = 4 << 20});
  const auto refused = loaded(program, options).method("forward");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.faults[0].rule, "limits.memory");
}

TEST(Runtime, ExternalDataMustExist) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.tensor(float32, {2}), out = plan.planned(float32, {2});
  plan.extra(x).location = pte::TensorDataLocation::EXTERNAL;
  plan.extra(x).fully_qualified_name = "weight";
  plan.plan().outputs = {out};
  plan.add_tensors(x, x, out);
  const auto refused = loaded(program).method("forward");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.faults[0].rule, "T19");
  EXPECT_THAT(refused.faults[0].message, HasSubstr("weight"));
  program.named("weight", bytes_of({3, 4}));
  Method method = ready(program);
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(6, 8));
}

TEST(Runtime, MissingOperatorsAreListed) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  plan.call("aten::no_such.out", {});
  const auto x = plan.state(float32, {2});
  plan.add_tensors(x, x, x);
  plan.call("mine::other", {});
  const auto refused = loaded(program).method("forward");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.faults[0].rule, "I4");
  EXPECT_THAT(refused.faults[0].message, HasSubstr(R"("aten::no_such.out", "mine::other")"));
}

TEST(Runtime, DelegatesRunTheirPayload) {
  const Bytes payload = Doubling().program.bytes();
  for (const std::string where : {"inline", "segment", "named"}) {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    const auto x = plan.tensor(float32, {2}), out = plan.planned(float32, {2});
    plan.plan().inputs = {x}, plan.plan().outputs = {out};
    if (where == "segment") {
      plan.delegate("ProgramBackend", pte::DataLocation::SEGMENT, program.segment(payload));
    } else {
      auto data = std::make_unique<pte::BackendDelegateInlineDataT>();
      const auto raw = reinterpret_cast<const std::uint8_t*>(payload.data());
      if (where == "inline") data->data.assign(raw, raw + payload.size());
      program.program().tables.backend_delegate_data.push_back(std::move(data));
      auto& delegate = plan.delegate("ProgramBackend", pte::DataLocation::INLINE, 0);
      if (where == "named") {
        program.named("the payload", payload);
        delegate.compile_specs.push_back(std::make_unique<pte::CompileSpecT>());
        delegate.compile_specs[0]->key = "named_data";
        const std::string key = "the payload";
        delegate.compile_specs[0]->value.assign(key.begin(), key.end());
      }
    }
    plan.delegate_call(0, {x, out});
    Method method = ready(program);
    EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
    EXPECT_EQ(rule(method.execute()), "") << where;
    EXPECT_THAT(values(method), ElementsAre(2, 4));
  }
}

TEST(Runtime, AListenerReceivesEveryInstruction) {
  struct Names : Listener {
    std::vector<std::string> heard;
    void instruction_done(const Method&, const Event& e) override {
      heard.push_back(std::to_string(e.chain) + "." + std::to_string(e.instruction) + " " + std::string(e.name) + " " +
                      std::to_string(e.bytes));
    }
  } names;
  Doubling d;
  d.plan.move(d.plan.integer(1), d.plan.integer(2));
  Method method = ready(d.program);
  method.listen(&names);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(names.heard, ElementsAre("0.0 aten::add.out 24", "0.1 MoveCall 0"));
}

}  // namespace runtime_test
}  // namespace assay
