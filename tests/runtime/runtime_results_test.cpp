#include <gmock/gmock-matchers.h>

#include "tests/support/methods.h"

// The targets of an instruction's results. A refused instruction changes nothing.
namespace assay {
namespace runtime_results_test {

using pte::TensorShapeDynamism;
using testing::ElementsAre;

TEST(RuntimeResults, ANumberDoesNotBecomeATensor) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.tensor(float32, {2});
  plan.plan().inputs = {x};
  plan.call("aten::sym_size.int", {x, plan.integer(0), x});
  EXPECT_EQ(broken(program, {floats({1, 2})}), "I10");
}

TEST(RuntimeResults, AnyKindOfNumberMayBeStoredInANumber) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto a = plan.integer(3), b = plan.integer(2), to = plan.none();
  plan.plan().outputs = {to};
  plan.call("executorch_prim::truediv.Scalar", {a, b, to});
  Method method = ready(program);
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_EQ(std::get<double>(*method.output(0)), 1.5);
  EXPECT_EQ(broken_by([](ProgramBuilder&, PlanBuilder& p) {
              p.call("executorch_prim::truediv.Scalar", {p.integer(3), p.integer(2), p.string("to")});
            }),
            "I10");
}

// max(x, 0) with its outs, and the values behind them.
template <class F>
std::string rule_of_max(F last) {
  return broken_by([&](ProgramBuilder&, PlanBuilder& p) {
    const auto x = p.state(float32, {2}), most = p.planned(float32, {}, 2), at = p.planned(int64, {}, 3);
    std::vector<PlanBuilder::Index> args{x, p.integer(0), p.boolean(false), most, at};
    if (const std::optional<PlanBuilder::Index> i = last(p, most, at)) args.push_back(*i);
    p.call("aten::max.dim_max", args);
  });
}

TEST(RuntimeResults, SeveralOutsMustBeRepeatedAsAList) {
  using Index = PlanBuilder::Index;
  using List = pte::TensorListT;
  const auto list = [](PlanBuilder& p, std::vector<Index> items) { return p.list<List>(std::move(items)); };
  const auto of_max = [](auto last) {
    return rule_of_max([=](auto&... args) { return std::optional<Index>(last(args...)); });
  };
  EXPECT_EQ(of_max([=](PlanBuilder& p, Index most, Index at) { return list(p, {most, at}); }), "");
  EXPECT_EQ(of_max([=](PlanBuilder& p, Index most, Index at) { return list(p, {at, most}); }), "I9");
  EXPECT_EQ(of_max([=](PlanBuilder& p, Index most, Index) { return list(p, {most}); }), "I9");
  EXPECT_EQ(of_max([](PlanBuilder&, Index, Index at) { return at; }), "I9");
  EXPECT_EQ(of_max([](PlanBuilder& p, Index, Index) { return p.none(); }), "I9");
  EXPECT_EQ(rule_of_max([](auto&...) { return std::optional<Index>(); }), "I9") << "nothing behind them";
}

TEST(RuntimeResults, AnOutMustBeRepeated) {
  const auto of_add = [](auto last) {
    return broken_by([=](ProgramBuilder&, PlanBuilder& p) {
      const auto x = p.state(float32, {2}), out = p.planned(float32, {2}, 2);
      p.call("aten::add.out", {x, x, p.integer(1), out, last(p, x, out)});
    });
  };
  EXPECT_EQ(of_add([](PlanBuilder&, auto, auto out) { return out; }), "");
  EXPECT_EQ(of_add([](PlanBuilder&, auto x, auto) { return x; }), "I9");
  EXPECT_EQ(of_add([](PlanBuilder& p, auto, auto) { return p.none(); }), "I9");
  EXPECT_EQ(of_add([](PlanBuilder& p, auto, auto out) { return p.list<pte::TensorListT>(std::vector{out}); }), "I9");
}

// Exporters wrote this form before they returned the changed tensor itself.
TEST(RuntimeResults, AnArgumentThatIsChangedInPlaceIsReturned) {
  const auto of_copy = [](auto last) {
    return broken_by([=](ProgramBuilder&, PlanBuilder& p) {
      const auto x = p.planned(float32, {2}), from = p.state(float32, {2}, 2);
      p.call("aten::copy_", {x, from, p.boolean(false), last(p, x)});
    });
  };
  EXPECT_EQ(of_copy([](PlanBuilder&, auto x) { return x; }), "");
  EXPECT_EQ(of_copy([](PlanBuilder& p, auto) { return p.planned(float32, {2}, 3); }), "");
  EXPECT_EQ(of_copy([](PlanBuilder& p, auto) { return p.planned(int32, {2}, 3); }), "I9");
  EXPECT_EQ(of_copy([](PlanBuilder& p, auto) { return p.planned(float32, {2, 1}, 3); }), "I9");
  EXPECT_EQ(of_copy([](PlanBuilder& p, auto) { return p.none(); }), "I9");
}

TEST(RuntimeResults, AReturnedNumberIsOneOutArgument) {
  const auto of_size = [](std::size_t arguments) {
    return broken_by([=](ProgramBuilder&, PlanBuilder& p) {
      const auto to = p.integer(0);
      std::vector<PlanBuilder::Index> args{p.planned(float32, {2}), p.integer(0), to, to};
      args.resize(arguments);
      p.call("aten::sym_size.int", args);
    });
  };
  EXPECT_EQ(of_size(2), "I9");
  EXPECT_EQ(of_size(3), "");
  EXPECT_EQ(of_size(4), "I9");
}

// The first out has room for its result, the second does not.
TEST(RuntimeResults, ARefusedCallStoresNoResult) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.tensor(float32, {2, 3}, TensorShapeDynamism::DYNAMIC_BOUND),
             most = plan.tensor(float32, {2}, TensorShapeDynamism::DYNAMIC_BOUND), at = plan.planned(int64, {2});
  plan.plan().inputs = {x}, plan.plan().outputs = {most, at};
  plan.call("aten::max.dim_max",
            {x, plan.integer(1), plan.boolean(false), most, at, plan.list<pte::TensorListT>(std::vector{most, at})});
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, tensor(float32, {2, 3}, {1, 5, 2, 4, 3, 6}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_EQ(rule(method.set_input(0, tensor(float32, {1, 3}, {7, 8, 9}))), "");
  EXPECT_EQ(rule(method.step()), "T24");
  EXPECT_FALSE(method.output(0)) << "nothing of this execution is there";
}

TEST(RuntimeResults, ARefusedCallDoesNotChangeAConstant) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.tensor(float32, {1}), c = plan.constant(float32, {2}, program.constant(bytes_of({1, 2})));
  plan.at(c).shape_dynamism = TensorShapeDynamism::DYNAMIC_BOUND;
  plan.plan().inputs = {x}, plan.plan().outputs = {c};
  plan.add_tensors(x, x, c);
  if (const auto loaded = LoadedProgram::load(in_memory(program.bytes())); !loaded) {
    EXPECT_EQ(loaded.faults[0].rule, "T15");
    return;
  }
  Method method = ready(program);
  EXPECT_EQ(rule(method.set_input(0, floats({3}))), "");
  EXPECT_EQ(rule(method.step()), "T15");
  EXPECT_THAT(values(method), ElementsAre(1, 2));
}

TEST(RuntimeResults, ARefusedInputKeepsThePreviousValue) {
  Method method = ready(Doubling(TensorShapeDynamism::DYNAMIC_BOUND).program);
  EXPECT_EQ(rule(method.set_input(0, floats({1}))), "");
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2, 3}))), "R1");
  EXPECT_EQ(rule(method.set_input(0, tensor(float64, {2}, {3, 4}))), "R1");
  EXPECT_EQ(rule(method.set_input(0, Tensor{float32, {2}, {0}, Buffer<std::byte>(4)})), "R1");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(values(method), ElementsAre(2));
}

// A host with one delegate call whose only argument is its result `to`; the payload gives `from`.
template <class From, class To>
std::string rule_of_delegate(From from, To to) {
  ProgramBuilder inner, program;
  PlanBuilder inner_plan = inner.method(), plan = program.method();
  inner_plan.plan().outputs = {from(inner_plan)};
  inner_plan.new_chain();
  plan.delegate("ProgramBackend", pte::DataLocation::SEGMENT, program.segment(inner.bytes()));
  plan.delegate_call(0, {to(plan)});
  return broken(program);
}

TEST(RuntimeResults, ADelegateMustGiveTheDeclaredTypes) {
  const auto floating = [](PlanBuilder& p) { return p.state(float32, {2}); };
  const auto bits = [](PlanBuilder& p) { return p.state(int32, {2}); };
  const auto longer = [](PlanBuilder& p) { return p.state(float32, {3}); };
  const auto number = [](PlanBuilder& p) { return p.integer(3); };
  const auto real = [](PlanBuilder& p) { return p.real(3); };
  const auto string = [](PlanBuilder& p) { return p.string("s"); };
  EXPECT_EQ(rule_of_delegate(floating, floating), "");
  EXPECT_EQ(rule_of_delegate(number, number), "");
  EXPECT_EQ(rule_of_delegate(real, number), "");
  EXPECT_EQ(rule_of_delegate(string, string), "");
  EXPECT_EQ(rule_of_delegate(bits, floating), "I14");
  EXPECT_EQ(rule_of_delegate(number, floating), "I14");
  EXPECT_EQ(rule_of_delegate(floating, number), "I14");
  EXPECT_EQ(rule_of_delegate(string, number), "I14");
  EXPECT_EQ(rule_of_delegate(longer, floating), "T24");
}

// A backend whose delegate gives invalid tensors.
TEST(RuntimeResults, ADelegateMustGiveValidTensors) {
  struct Gives final : Delegate {
    Tensor result;
    explicit Gives(Tensor t) : result(std::move(t)) {}
    std::size_t inputs() const override { return 0; }
    std::size_t outputs() const override { return 1; }
    void execute(std::span<Value> arguments) override { arguments[0] = result; }
  };
  const auto run = [](const Tensor& result) {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    const auto to = plan.planned(float32, {2});
    plan.delegate("Mine", pte::DataLocation::SEGMENT, program.segment({}));
    plan.delegate_call(0, {to});
    RuntimeOptions options;
    options.backends["Mine"] = [=](const DelegateSource&) { return std::make_unique<Gives>(result); };
    return rule(ready(program, options).execute());
  };
  EXPECT_EQ(run(floats({1, 2})), "");
  EXPECT_EQ(run({float32, {2}, {0}, Buffer<std::byte>(4)}), "I14");
  EXPECT_EQ(run({float32, {2}, {1}, Buffer<std::byte>(8)}), "I14");
  EXPECT_EQ(run({float32, {-2}, {0}, {}}), "I14");
}

TEST(RuntimeResults, OnlyCalledOperatorsMustExist) {
  Doubling d;
  d.plan.plan().operators.push_back(std::make_unique<pte::OperatorT>());
  d.plan.plan().operators.back()->name = "mine::other";
  EXPECT_EQ(broken(d.program, {floats({1, 2})}), "");
}

}  // namespace runtime_results_test
}  // namespace assay
