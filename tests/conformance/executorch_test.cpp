#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "conformance/adapters/load.h"
#include "conformance/sandbox/child.h"
#include "conformance/sandbox/probe.h"
#include "reference/fault.h"
#include "tests/support/tensors.h"

namespace assay {
namespace executorch_test {

// An operator as the adapter reads it: a name and a schema. None of these has an entry.
struct Schema {
  std::vector<SchemaArgument> arguments;
  std::string text;
  Operator op;

  Schema(std::string_view name, std::vector<SchemaArgument> a) : arguments(std::move(a)), text(name) {
    text += '(';
    for (bool by_name = false; const SchemaArgument& argument : arguments) {
      text += &argument == arguments.data() ? "" : ", ";
      text += argument.out && !by_name ? "*, " : "";
      text.append(argument.type).append(argument.out ? "(a!) " : " ").append(argument.name);
      by_name = argument.out;
    }
    text += ") -> Tensor";
    op.name = name;
    op.schema = text;
    op.arguments = arguments;
  }
};

SchemaArgument in(std::string_view type, std::string_view name) { return {name, type, "", false}; }
SchemaArgument out(std::string_view type = "Tensor", std::string_view name = "out") { return {name, type, "", true}; }

const Schema& add() {
  static const Schema s("aten::add.out", {in("Tensor", "self"), in("Tensor", "other"), in("Scalar", "alpha"), out()});
  return s;
}

Tensor floats(const Dims& sizes, const std::vector<Real>& values) { return tensor(DType::float32, sizes, values); }

std::vector<Real> values(const Tensor& t) { return values_of(cast(t, DType::float64)); }

sandbox::TensorPlan plan(DType dtype, const Dims& sizes) { return {dtype, sizes, Dims::counting(sizes.size())}; }

// Loaded once, since the package's kernels register once per process. The module is in the folder of this program.
testee::KernelLibrary& library() {
  static const std::unique_ptr<testee::KernelLibrary> loaded =
      adapters::load_executorch_library(std::filesystem::read_symlink("/proc/self/exe").parent_path());
  return *loaded;
}

std::vector<std::vector<Real>> answer(const Schema& s, const std::vector<Value>& arguments,
                                      const sandbox::OutPlan& outs) {
  const sandbox::Observation seen = sandbox::Probe(library()).observe(s.op, arguments, outs, 4);
  EXPECT_EQ(seen.reply.outcome, Outcome::ok) << seen.reply.message;
  EXPECT_EQ(seen.conduct, verdict::Class::none) << seen.violation;
  std::vector<std::vector<Real>> all;
  for (const Tensor& t : seen.outs) all.push_back(values(t));
  return all;
}

using Results = std::vector<std::vector<Real>>;

TEST(Executorch, StatesItsVersionAndKernels) {
  const auto facts = library().facts();
  const auto fact = [&](std::string_view name) {
    return std::ranges::find(facts, name, &std::pair<std::string, std::string>::first)->second;
  };
  EXPECT_EQ(fact("executorch").substr(0, 2), "1.");
  EXPECT_GE(std::stoi(fact("kernels")), 200);
  EXPECT_TRUE(library().has(add().op));
  EXPECT_TRUE(library().has(Schema("quantized_decomposed::add.out", {}).op));
  EXPECT_FALSE(library().has(Schema("aten::no_such.out", {}).op));
}

TEST(Executorch, ComputesAdd) {
  EXPECT_EQ(answer(add(), {floats({3}, {1, 2, 3}), floats({3}, {10, 20, 30}), Int{2}, Value{}},
                   {{plan(DType::float32, {3})}}),
            (Results{{21, 42, 63}}));
}

TEST(Executorch, ResizesAnOutThatIsLargerThanTheResult) {
  const sandbox::Observation seen = sandbox::Probe(library()).observe(
      add().op, std::vector<Value>{floats({2}, {1, 2}), floats({2}, {3, 4}), 1.0, Value{}},
      {{plan(DType::float32, {5})}});
  ASSERT_EQ(seen.outs.size(), 1u);
  EXPECT_EQ(seen.outs[0].sizes, Dims{2});
  EXPECT_EQ(values(seen.outs[0]), (std::vector<Real>{4, 6}));
}

TEST(Executorch, ReadsAListOfTensors) {
  const Schema cat("aten::cat.out", {in("Tensor[]", "tensors"), in("int", "dim"), out()});
  EXPECT_EQ(answer(cat, {Tensors{floats({1, 2}, {1, 2}), floats({1, 1}, {3})}, Int{1}, Value{}},
                   {{plan(DType::float32, {1, 3})}}),
            (Results{{1, 2, 3}}));
}

TEST(Executorch, ReadsListsOfIntegersAndOptionalTensors) {
  const Schema convolution("aten::convolution.out",
                           {in("Tensor", "input"), in("Tensor", "weight"), in("Tensor?", "bias"), in("int[]", "stride"),
                            in("int[]", "padding"), in("int[]", "dilation"), in("bool", "transposed"),
                            in("int[]", "output_padding"), in("int", "groups"), out()});
  const auto call = [&](Value bias) {
    return answer(convolution,
                  {floats({1, 1, 2, 2}, {1, 2, 3, 4}), floats({1, 1, 2, 2}, {1, 1, 1, 1}), std::move(bias), Ints{1, 1},
                   Ints{0, 0}, Ints{1, 1}, false, Ints{0, 0}, Int{1}, Value{}},
                  {{plan(DType::float32, {1, 1, 1, 1})}});
  };
  EXPECT_EQ(call(Value{}), (Results{{10}}));
  EXPECT_EQ(call(floats({1}, {0.5})), (Results{{10.5}}));
}

TEST(Executorch, ReadsAListOfOptionalTensors) {
  const Schema index("aten::index.Tensor_out", {in("Tensor", "self"), in("Tensor?[]", "indices"), out()});
  EXPECT_EQ(
      answer(index, {floats({2, 2}, {1, 2, 3, 4}), Tensors{std::nullopt, tensor(DType::int64, {1}, {1})}, Value{}},
             {{plan(DType::float32, {2, 1})}}),
      (Results{{2, 4}}));
}

TEST(Executorch, WritesAListOfOuts) {
  const Schema split("aten::split_copy.Tensor_out",
                     {in("Tensor", "self"), in("int", "split_size"), in("int", "dim"), out("Tensor[]")});
  EXPECT_EQ(answer(split, {floats({3}, {1, 2, 3}), Int{2}, Int{0}, Value{}},
                   {{plan(DType::float32, {2}), plan(DType::float32, {1})}}),
            (Results{{1, 2}, {3}}));
}

TEST(Executorch, WritesTwoOuts) {
  const Schema max("aten::max.dim_max", {in("Tensor", "self"), in("int", "dim"), in("bool", "keepdim"),
                                         out("Tensor", "max"), out("Tensor", "max_values")});
  EXPECT_EQ(answer(max, {floats({3}, {1, 5, 3}), Int{0}, false, Value{}, Value{}},
                   {{plan(DType::float32, {})}, {plan(DType::int64, {})}}),
            (Results{{5}, {1}}));
}

TEST(Executorch, ReadsStrings) {
  const Schema gelu("aten::gelu.out", {in("Tensor", "self"), in("str", "approximate"), out()});
  EXPECT_EQ(answer(gelu, {floats({1}, {0}), std::string("tanh"), Value{}}, {{plan(DType::float32, {1})}}),
            (Results{{0}}));
  const Schema div("aten::div.out_mode",
                   {in("Tensor", "self"), in("Tensor", "other"), in("str?", "rounding_mode"), out()});
  EXPECT_EQ(
      answer(div, {floats({1}, {7}), floats({1}, {2}), std::string("floor"), Value{}}, {{plan(DType::float32, {1})}}),
      (Results{{3}}));
  EXPECT_EQ(answer(div, {floats({1}, {7}), floats({1}, {2}), Value{}, Value{}}, {{plan(DType::float32, {1})}}),
            (Results{{3.5}}));
}

TEST(Executorch, ReadsIntegersAsFloatsAndListsOfFloats) {
  const Schema elu("aten::elu.out", {in("Tensor", "self"), in("Scalar", "alpha"), in("Scalar", "scale"),
                                     in("Scalar", "input_scale"), out()});
  EXPECT_EQ(answer(elu, {floats({1}, {2}), Int{1}, 3.0, true, Value{}}, {{plan(DType::float32, {1})}}), (Results{{6}}));
  const Schema nearest("aten::upsample_nearest2d.vec_out",
                       {in("Tensor", "input"), in("int[]?", "output_size"), in("float[]?", "scale_factors"), out()});
  EXPECT_EQ(answer(nearest, {floats({1, 1, 1, 2}, {1, 2}), Value{}, Doubles{1, 2}, Value{}},
                   {{plan(DType::float32, {1, 1, 1, 4})}}),
            (Results{{1, 1, 2, 2}}));
}

TEST(Executorch, ComputesQuantizedOperators) {
  const Schema quantize("quantized_decomposed::quantize_per_tensor.out",
                        {in("Tensor", "input"), in("float", "scale"), in("int", "zero_point"), in("int", "quant_min"),
                         in("int", "quant_max"), in("ScalarType", "dtype"), out()});
  EXPECT_EQ(answer(quantize, {floats({3}, {0, 1, 1000}), Int{1}, Int{3}, Int{-128}, Int{127}, Int{1}, Value{}},
                   {{plan(DType::int8, {3})}}),
            (Results{{3, 4, 127}}));
}

TEST(Executorch, KeepsChannelsLast) {
  const Schema abs("aten::abs.out", {in("Tensor", "self"), out()});
  const Dims last{0, 2, 3, 1};
  const sandbox::Observation seen = sandbox::Probe(library()).observe(
      abs.op, std::vector<Value>{arranged(floats({1, 2, 1, 2}, {-1, 2, -3, 4}), last), Value{}},
      {{{DType::float32, {1, 2, 1, 2}, last}}});
  ASSERT_EQ(seen.outs.size(), 1u) << seen.reply.message;
  EXPECT_EQ(seen.outs[0].dim_order, last);
  EXPECT_EQ(values(seen.outs[0]), (std::vector<Real>{1, 2, 3, 4}));
}

TEST(Executorch, ARefusalHasTheMessageOfTheKernelAndPrintsNothing) {
  testing::internal::CaptureStderr();
  const sandbox::Observation seen = sandbox::Probe(library()).observe(
      add().op, std::vector<Value>{floats({3}, {1, 2, 3}), floats({2}, {1, 2}), Int{1}, Value{}},
      {{plan(DType::float32, {3})}});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(seen.reply.outcome, Outcome::invalid);
  EXPECT_TRUE(seen.reply.message.starts_with("Error::InvalidArgument: ")) << seen.reply.message;
  EXPECT_NE(seen.reply.message.find(".cpp:"), std::string::npos) << seen.reply.message;
}

TEST(Executorch, RefusesAKernelWithOtherArgumentsThanTheSchema) {
  const Schema wrong("aten::add.out", {in("Tensor", "self"), out()});
  const sandbox::Observation seen = sandbox::Probe(library()).observe(
      wrong.op, std::vector<Value>{floats({1}, {1}), Value{}}, {{plan(DType::float32, {1})}});
  EXPECT_EQ(seen.reply.outcome, Outcome::invalid);
  EXPECT_TRUE(seen.reply.message.starts_with("internal: it takes other arguments than aten::add.out(Tensor self, *, "))
      << seen.reply.message;
}

TEST(Executorch, AnAbortFailsOneTaskWithItsMessage) {
  // The schema has an int; the argument is a Scalar, which the kernel's unboxing rejects.
  const Schema cat("aten::cat.out", {in("Tensor[]", "tensors"), in("int", "dim"), out()});
  testee::KernelLibrary& loaded = library();
  sandbox::ForkServer fork_server([&](std::string_view task) {
    const Value dim = task == "bad" ? Value(0.5) : Value(Int{0});
    const std::vector<Value> arguments{Tensors{floats({1}, {1})}, dim, Value{}};
    return sandbox::Work{
        sandbox::Probe(loaded).observe(cat.op, arguments, {{plan(DType::float32, {1})}}).reply.message};
  });
  sandbox::Child child(fork_server, {std::chrono::seconds(10), std::chrono::seconds(100)});
  for (const char* task : {"good", "bad"}) child.give(task);
  EXPECT_EQ(child.next().end, sandbox::TaskResult::End::done);
  const sandbox::TaskResult bad = child.next();
  EXPECT_EQ(bad.end, sandbox::TaskResult::End::crashed);
  EXPECT_EQ(bad.text, "crashed with signal 6 (Aborted)");
  EXPECT_NE(bad.output.find("evalue.h:"), std::string::npos) << bad.output;
}

TEST(LoadLibrary, NamesTheMissingFile) {
  for (const auto& load : {+[] { adapters::load_executorch_library("nowhere"); },
                           +[] { adapters::load_library("nonsense", "nowhere"); }}) {
    try {
      load();
      FAIL() << "something was found";
    } catch (const Fault& f) {
      EXPECT_EQ(f.rule, "testee");
      EXPECT_NE(f.message.find("nowhere"), std::string::npos);
    }
  }
}

}  // namespace executorch_test
}  // namespace assay
