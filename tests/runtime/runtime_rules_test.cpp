#include <gmock/gmock-matchers.h>

#include <functional>
#include <limits>
#include <set>

#include "conformance/corrupt/delegated.h"
#include "conformance/hosts/calls.h"
#include "tests/support/methods.h"
#include "tests/support/rules_shown.h"

// For each rule that only a run can check: a program with calls at its boundary, and a program that breaks it.
namespace assay {
namespace runtime_rules_test {

using Index = PlanBuilder::Index;
using pte::TensorShapeDynamism;

struct RuntimeCase {
  std::string_view rule, what;
  std::function<Refusal()> meets, breaks;
  std::string says;  // a part of the message for the program that breaks the rule
};

// The same request with a value that keeps the rule and with a value that breaks it.
template <class F, class A, class B>
RuntimeCase done(std::string_view rule, std::string_view what, F run, A with, B with_less, std::string says = "") {
  return {rule, what, [=] { return run(with); }, [=] { return run(with_less); }, std::move(says)};
}

Refusal find_method(const char* name) {
  const auto plan = loaded(Doubling().program).plan(name);
  return plan ? Refusal() : plan.faults.front();
}

template <TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC>
Refusal take(const Value& x) {
  return refusal_of_run(Doubling(dynamism).program, {x});
}

// The value for the only input of a method that returns it.
template <class F>
auto identity(F make) {
  return [=](const Value& given) {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    plan.plan().inputs = plan.plan().outputs = {make(plan)};
    plan.new_chain();
    return refusal_of_run(program, {given});
  };
}
const auto transposed = identity([](PlanBuilder& p) {
  const Index x = p.tensor(float32, {2, 2});
  p.at(x).dim_order = {1, 0};
  return x;
});
const auto bounded = identity([](PlanBuilder& p) {
  return p.tensor(float32, {4, 3}, TensorShapeDynamism::DYNAMIC_BOUND);
});
const auto integer = identity([](PlanBuilder& p) { return p.integer(3); });
const auto real = identity([](PlanBuilder& p) { return p.real(0.5); });
const auto truth = identity([](PlanBuilder& p) { return p.boolean(true); });
const auto string = identity([](PlanBuilder& p) { return p.string("relu"); });
const auto none = identity([](PlanBuilder& p) { return p.none(); });

// A delegate that adds two inputs of codes. The scale of the first, divided by that of the output, is `ratio`.
Refusal add_codes(float ratio) {
  corrupt::Delegated d;
  d.on_two(xnn::Operation::Add, {2}, {2}, {2});
  for (std::uint32_t id = 0; id < 3; ++id) {
    d.per_tensor(id, format::xnnpack::Datatype::qint8, id == d.x ? ratio : 1);
    d.argument(id).scalar_type = static_cast<std::int8_t>(int8);
  }
  return refusal_of_run(in_memory(d.method_file()), {make(int8, {2}), make(int8, {2})});
}

Refusal run_on(const std::vector<Value>& inputs) { return refusal_of_run(Doubling().program, inputs); }

// The indices of non-zero elements; the plan has room for two.
Refusal find_nonzero(const std::vector<Real>& elements) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const Index x = plan.tensor(float32, {2}), out = plan.planned(int64, {2, 1});
  plan.plan().inputs = {x}, plan.plan().outputs = {out};
  plan.call("aten::nonzero.out", {x, out, out});
  return refusal_of_run(program, {floats(elements)});
}

// Two outputs; the plan has memory for the second one.
Refusal give_output(std::size_t i, std::size_t bytes) {
  Doubling d;
  const Index planned = d.plan.planned(float32, {2});
  d.plan.add_tensors(d.x, d.x, planned);
  d.plan.plan().outputs.push_back(planned);
  Bytes memory(bytes);
  return ready(d.program).set_output(i, memory);
}

Refusal give_input(std::size_t i) { return ready(Doubling().program).set_input(i, floats({1, 2})); }

template <class Ask>
auto ask(Ask asked) {
  return [=](std::size_t i) {
    Method method = ready(Doubling().program);
    EXPECT_FALSE(method.set_input(0, floats({1, 2})) || method.execute());
    const Result<Value> value = asked(method, i);
    return value ? Refusal() : value.faults.front();
  };
}
const auto output = ask([](const Method& method, std::size_t i) { return method.output(i); });
const auto value = ask([](const Method& method, std::size_t i) { return method.value(i); });

// After this number of its two instructions.
template <class F>
auto after_steps(F then) {
  return [=](int steps) {
    Doubling d;
    d.plan.add_tensors(d.x, d.x, d.out);
    Method method = ready(d.program);
    EXPECT_FALSE(method.set_input(0, floats({1, 2})));
    while (steps-- > 0) EXPECT_FALSE(method.step());
    return then(method);
  };
}

Refusal call_unary(const char* name) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const Index x = plan.state(float32, {2}), out = plan.planned(float32, {2}, 2);
  plan.call(name, {x, out, out});
  return refusal_of_run(program);
}

template <class F>
Refusal add_to(F other) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const Index x = plan.state(float32, {2}), out = plan.planned(float32, {2}, 2);
  plan.add_tensors(x, other(plan), out);
  return refusal_of_run(program);
}
Refusal view_as(const std::vector<Int>& sizes) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  plan.call("executorch_prim::et_view.default",
            {plan.state(float32, {4}), plan.integers(sizes), plan.tensor(float32, {2, 2})});
  return refusal_of_run(program);
}

// The payload takes one tensor and gives one.
Refusal delegate_with(std::size_t arguments) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const Index x = plan.state(float32, {2}), out = plan.planned(float32, {2}, 1, 8);
  std::vector<Index> args{x, out, out};
  args.resize(arguments);
  plan.delegate("ProgramBackend", pte::DataLocation::SEGMENT, program.segment(Doubling().program.bytes()));
  plan.delegate_call(0, args);
  return refusal_of_run(program);
}

Refusal delegate_to(const char* backend) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  plan.delegate(backend, pte::DataLocation::SEGMENT, program.segment(Doubling().program.bytes()));
  plan.new_chain();
  return refusal_of_run(program);
}

Refusal move(int times) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const Index from = plan.integer(1), to = plan.integer(2);
  while (times-- > 0) plan.move(from, to);
  RuntimeOptions options;
  options.instructions = 100;
  return refusal_of_run(program, {}, options);
}

Refusal nest(int depth) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  plan.move(plan.integer(1), plan.integer(2));
  while (depth-- > 0) {
    ProgramBuilder outer;
    PlanBuilder outer_plan = outer.method();
    outer_plan.delegate("ProgramBackend", pte::DataLocation::SEGMENT, outer.segment(program.bytes()));
    outer_plan.delegate_call(0, {});
    program = std::move(outer);
  }
  return refusal_of_run(program);
}

// A difference is an answer, not a refusal: the rule defines how it is found.
template <class Rule>
auto expect_of_identity(Rule name, const Tensor& x) {
  return [=](const Tensor& expected) -> Refusal {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    std::vector<std::int32_t> sizes(x.sizes.begin(), x.sizes.end());
    plan.plan().inputs = plan.plan().outputs = {plan.tensor(x.dtype, sizes)};
    plan.new_chain();
    hosts::Host host(hosts::valid_program(in_memory(program.bytes())));
    const files::Tolerance tolerance{.rtol = 0.5, .atol = 0};
    const hosts::CallResult result = hosts::run_call(host, {"forward", {x}, {{expected}}, tolerance, ""});
    EXPECT_FALSE(result.refusal);
    if (result.agrees()) return {};
    return Fault(Outcome::invalid, name, files::sentence(result.comparisons.at(0), tolerance));
  };
}

std::vector<RuntimeCase> runtime_cases() {
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  const auto execute = [](Method& m) { return m.execute(); };
  const auto set_input = [](Method& m) { return m.set_input(0, floats({1, 2})); };
  const Dims square{2, 2}, columns{1, 0};
  const Tensor rows = tensor(float32, square, {1, 2, 3, 4});
  return {
      done("G3", "a method", find_method, "forward", "backward", "forward"),
      done("T24", "rows of a static out", find_nonzero, std::vector<Real>{1, 2}, std::vector<Real>{0, 2},
           "instruction 0 (aten::nonzero.out)"),
      done("I4", "an operator", call_unary, "aten::relu.out", "aten::no_such.out", "aten::no_such.out"),
      done(
          "I10", "what a tensor is added to", [](auto f) { return add_to(f); },
          [](PlanBuilder& p) { return p.state(float32, {2}, 3); }, [](PlanBuilder& p) { return p.string("x"); }),
      done("I11", "elements of a view", view_as, std::vector<Int>{2, 2}, std::vector<Int>{2, 3}),
      done("I14", "arguments of a delegate", delegate_with, 2u, 1u),
      done("I14", "arguments of a delegate", delegate_with, 2u, 3u),
      done("I17", "instructions", move, 100, 101),
      done("X46", "the ratio of two scales", add_codes, 255.5f, 256.0f, "must be at least 2^-10 and below 2^8"),
      done("X46", "the ratio of two scales", add_codes, 0x1p-10f, 0x1p-11f, "must be at least 2^-10 and below 2^8"),
      done("D2", "a backend", delegate_to, "ProgramBackend", "OtherBackend", "OtherBackend"),
      done("D6", "programs within each other", nest, deepest_nesting, deepest_nesting + 1),
      done("R1", "an input's kind", take<>, floats({1, 2}), Int{3}),
      done("R1", "an input's dtype", take<>, floats({1, 2}), tensor(float64, {2}, {1, 2})),
      done("R1", "an input's rank", take<>, floats({1, 2}), tensor(float32, {2, 1}, {1, 2})),
      done("R1", "an input's sizes", take<>, floats({1, 2}), floats({1, 2, 3})),
      done("R1", "an input's bound", take<TensorShapeDynamism::DYNAMIC_BOUND>, floats({1}), floats({1, 2, 3})),
      done("R1", "an input's bound in each dimension", bounded, tensor(float32, {3, 3}, std::vector<Real>(9)),
           tensor(float32, {2, 6}, std::vector<Real>(12)), "dimension 1"),
      done("R1", "a number's type", integer, Int{3}, 3.0),
      done("R1", "what may be any number", none, Int{7}, floats({1})),
      done("R2", "an input's dim order", transposed, tensor(float32, square, columns, {1, 2, 3, 4}), rows),
      done("R2", "an input's dim order, whatever its sizes", transposed, tensor(float32, square, columns, {1, 2, 3, 4}),
           tensor(float32, {1, 4}, {1, 2, 3, 4})),
      done("R3", "an integer", integer, Int{3}, Int{4}),
      done("R3", "a float", real, 0.5 + 1.049e-4, 0.5 + 1.051e-4),
      done("R3", "a bool", truth, true, false),
      done("R3", "a string", string, std::string("relu"), std::string("gelu")),
      done("R4", "inputs that are set", run_on, std::vector<Value>{floats({1, 2})}, std::vector<Value>()),
      done(
          "R5", "bytes for an output", [](std::size_t n) { return give_output(0, n); }, 8u, 7u),
      done(
          "R5", "an output without memory", [](std::size_t i) { return give_output(i, 8); }, 0u, 1u),
      done("R6", "an execution after so many of two instructions", after_steps(execute), 2, 1),
      done("R6", "an input after so many of two instructions", after_steps(set_input), 2, 1),
      done("R7", "an input", give_input, 0u, 1u),
      done(
          "R7", "memory for an output", [](std::size_t i) { return give_output(i, 8); }, 0u, 2u),
      done("R7", "an output", output, 0u, 1u),
      done("R7", "a value", value, 0u, 3u),
      done("B8", "an output in another dim order", expect_of_identity("B8", rows),
           tensor(float32, square, columns, {1, 2, 3, 4}), tensor(float32, square, columns, {1, 2, 9, 4})),
      done("B9", "NaN", expect_of_identity("B9", floats({nan})), floats({nan}), floats({0})),
      done("B9", "a tolerance of a half", expect_of_identity("B9", floats({3})), floats({2}), floats({1.5})),
      done("B9", "bools", expect_of_identity("B9", tensor(boolean, {1}, {1})), tensor(boolean, {1}, {1}),
           tensor(boolean, {1}, {0})),
  };
}

TEST(RuntimeRules, EachHasARunAtItsBoundaryAndOneThatBreaksIt) {
  std::set<std::string_view> covered;
  for (const RuntimeCase& c : runtime_cases()) {
    SCOPED_TRACE(concat(c.rule, ", ", c.what));
    const Refusal met = c.meets(), broken = c.breaks();
    EXPECT_FALSE(met) << met->rule << ' ' << met->message;
    ASSERT_TRUE(broken);
    EXPECT_EQ(broken->rule, c.rule);
    EXPECT_EQ(broken->outcome, find_format_rule(c.rule)->outcome);
    EXPECT_THAT(concat(broken->place, " ", broken->message), testing::HasSubstr(c.says));
    show_case(c.rule, c.what, *broken);
    covered.insert(c.rule);
  }
  EXPECT_EQ(covered, std::set<std::string_view>(std::begin(runtime_rules), std::end(runtime_rules)));
}

}  // namespace runtime_rules_test
}  // namespace assay
