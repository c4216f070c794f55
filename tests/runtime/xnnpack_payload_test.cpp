#include <gmock/gmock-matchers.h>

#include <filesystem>

#include "conformance/adapters/optimized/client.h"
#include "conformance/corrupt/delegated.h"
#include "conformance/hosts/calls.h"
#include "reference/xnnpack/undelegate.h"
#include "tests/support/golden.h"
#include "tests/support/methods.h"

// The meaning of XNNPACK payloads: recorded programs in each of the ways in which assay runs them, and faults.
namespace assay {
namespace xnnpack_payload_test {

namespace fs = std::filesystem;
using testing::StartsWith;

const fs::path delegated_programs = golden_folder() / "delegated";

std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(delegated_programs))
    if (entry.is_directory()) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}
ValidProgram program_in(const fs::path& folder) {
  return hosts::valid_program(files::open_file(folder / "program.pte"), {});
}
ValidProgram plain(const ValidProgram& program, xnnpack::Form form = xnnpack::Form::folded) {
  return hosts::valid_program(in_memory(xnnpack::undelegated(program, form, Budget())));
}

bool equal(const std::vector<Value>& a, const std::vector<Value>& b) {
  bool agrees = a.size() == b.size();
  for (std::size_t i = 0; agrees && i < a.size(); ++i) agrees = files::compare(a[i], b[i], {}).agrees();
  return agrees;
}

class Recorded : public testing::TestWithParam<fs::path> {
 protected:
  const hosts::ProgramCalls calls = hosts::read_calls(GetParam() / "calls.json");
  const ValidProgram program = program_in(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Programs, Recorded, testing::ValuesIn(folders()),
                         [](const auto& tested) { return "p_" + tested.param.filename().string(); });

// Both run the same calls of operators, so that every bit is equal.
TEST_P(Recorded, ThePlainProgramGivesTheSameBits) {
  const ValidProgram without = plain(program);
  EXPECT_FALSE(xnnpack::has_payloads(*without));
  hosts::Host delegated(program), undelegated(without);
  for (const hosts::ProgramCall& call : calls.calls)
    EXPECT_TRUE(equal(delegated.call("forward", call.inputs), undelegated.call("forward", call.inputs)));
}

TEST_P(Recorded, TheOptimizedRuntimeAgrees) {
  adapters::OptimizedClient client(GetParam() / "program.pte", {}, {});
  for (const hosts::ProgramCall& call : calls.calls) {
    const auto outputs = client.call("forward", call.inputs);
    ASSERT_EQ(outputs.size(), call.outputs->size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto comparison = files::compare(outputs[i], (*call.outputs)[i], call.tolerance);
      EXPECT_TRUE(comparison.agrees()) << files::sentence(comparison, call.tolerance);
    }
  }
}

// XNNPACK folds the bounds of relu6 into the convolution: node by node, an intermediate result is rounded to 8 bits.
TEST(XnnpackPayload, TheLiteralGraphRoundsTwice) {
  const fs::path folder = delegated_programs / "static_int8_clamps";
  const hosts::ProgramCall call = hosts::read_calls(folder / "calls.json").calls.front();
  RuntimeOptions literal;
  literal.payload_form = xnnpack::Form::literal;
  hosts::Host folded(program_in(folder)), by_node(program_in(folder), literal),
      plain_by_node(plain(program_in(folder), xnnpack::Form::literal));
  const auto found = by_node.call("forward", call.inputs);
  EXPECT_TRUE(equal(folded.call("forward", call.inputs), *call.outputs));
  EXPECT_FALSE(equal(found, *call.outputs));
  EXPECT_TRUE(equal(plain_by_node.call("forward", call.inputs), found));
}

// A sum of two inputs whose sizes do not fit each other at run time.
TEST(XnnpackPayload, AFaultNamesTheNode) {
  corrupt::Delegated d;
  d.on_two(xnn::Operation::Add, {4}, {4}, {4});
  for (std::uint32_t i = 0; i < 3; ++i) d.argument(i).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
  const Bytes file = d.method_file();
  const auto refused = refusal_of_run(in_memory(file), {make(float32, {2}), make(float32, {3})});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->place, "\"forward\", instruction 0 (delegate 0), node 0, Add");
  EXPECT_FALSE(refusal_of_run(in_memory(file), {make(float32, {3}), make(float32, {3})}));
}

// The dims of a payload whose arguments are dynamic are upper bounds, which need not fit each other.
TEST(XnnpackPayload, DimsMayBeBounds) {
  corrupt::Delegated d;
  d.on<xnn::UnaryT>(xnn::Operation::Abs, {4}, {5});
  for (const std::uint32_t i : {0u, 1u}) d.argument(i).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
  EXPECT_FALSE(refusal_of_run(in_memory(d.method_file()), {make(float32, {3})}));
}

TEST(XnnpackPayload, AnUnknownMeaningIsRefusedByName) {
  corrupt::Delegated d;
  d.on<xnn::UnaryT>(xnn::Operation::Softmax, {2, 3}, {2, 3});
  for (const std::uint32_t id : {0u, 1u}) {
    d.per_tensor(id);
    d.argument(id).scalar_type = static_cast<std::int8_t>(int8);
  }
  const auto refused = refusal_of_run(in_memory(d.method_file()), {make(int8, {2, 3})});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->rule, "X46");
  EXPECT_EQ(refused->place, "\"forward\", delegate 0, node 0, Softmax");
  EXPECT_EQ(refused->outcome, Outcome::unsupported);
}

// A payload that breaks a rule is refused when the method is prepared.
TEST(XnnpackPayload, ABrokenPayloadIsRefused) {
  corrupt::Delegated d;
  d.graph().nodes.back()->operation.AsAbs()->input = 7;
  const auto refused = refusal_of_run(in_memory(d.method_file()), {make(float32, {2, 3})});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->rule, "X22");
  EXPECT_THAT(refused->place, StartsWith("\"forward\", delegate 0"));
}

// An argument in another dim order, and a number as an argument: the payload has dims [1] for it.
TEST(XnnpackPayload, ArgumentsHaveTheirDimOrder) {
  corrupt::Delegated d;
  d.on_two(xnn::Operation::Multiply, {1, 1, 3, 2}, {1}, {1, 1, 3, 2});
  for (const std::uint32_t image : {0u, 2u})
    d.argument(image).sizes = {1, 2, 1, 3}, d.argument(image).dim_order = {0, 2, 3, 1};
  d.argument(1).sizes = {}, d.argument(1).dim_order = {};
  const ValidProgram program = hosts::valid_program(in_memory(d.method_file()));
  const Tensor x = tensor(float32, {1, 2, 1, 3}, {0, 2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const std::vector<Value> inputs = {x, tensor(float32, {}, {10})};
  for (const ValidProgram& p : {program, plain(program)}) {
    hosts::Host host(p);
    const Tensor result = std::get<Tensor>(host.call("forward", inputs).front());
    EXPECT_EQ(result.dim_order, (Dims{0, 2, 3, 1}));
    EXPECT_EQ(values_of(result), (std::vector<Real>{10, 20, 30, 40, 50, 60}));
  }
}

// The positions of maxima in their windows, as 64-bit integers; exporters do not write such a node.
TEST(XnnpackPayload, PositionsAreThoseInTheWindow) {
  corrupt::Delegated d;
  d.clear();
  d.x = d.input({1, 2, 5, 1});
  xnn::ArgMaxPoolingT t;
  t.kernel_height = t.kernel_width = 2, t.padding_right = 1;
  t.input = d.x, t.output = d.output({1, 1, 3, 1});
  t.index = d.output({1, 1, 3, 1}, format::xnnpack::Datatype::fp32, int64);
  d.node(xnn::Operation::ArgMaxPooling2d, t);
  const ValidProgram program = hosts::valid_program(in_memory(d.method_file()));
  const std::vector<Value> inputs = {tensor(float32, {1, 2, 5, 1}, {1, 5, 2, 0, 3, 4, 2, 8, 1, 9})};
  for (const ValidProgram& p : {program, plain(program)}) {
    hosts::Host host(p);
    const auto outputs = host.call("forward", inputs);
    EXPECT_EQ(values_of(std::get<Tensor>(outputs[0])), (std::vector<Real>{5, 8, 9}));
    EXPECT_EQ(values_of(std::get<Tensor>(outputs[1])), (std::vector<Real>{1, 2, 2}));
  }
}

}  // namespace xnnpack_payload_test
}  // namespace assay
