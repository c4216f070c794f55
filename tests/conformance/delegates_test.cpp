#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "conformance/delegates/defects.h"
#include "conformance/hosts/host.h"
#include "reference/numerics/bounds.h"
#include "reference/program/taken.h"
#include "tests/support/golden.h"

// Pieces of delegates, judged: the reference is right, and planted faults are found in the node that has them.
namespace assay {
namespace delegates_test {

namespace fs = std::filesystem;
using delegates::Extent;
using delegates::Piece;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const fs::path delegated_programs = golden_folder() / "delegated";

const delegates::Pieces& pieces_of(const std::string& program) {
  static std::map<std::string, delegates::Pieces> known;
  const auto [at, is_new] = known.try_emplace(program);
  if (!is_new) return at->second;
  const fs::path folder = delegated_programs / program;
  hosts::ProgramCalls calls = hosts::read_calls(folder / "calls.json");
  calls.calls.resize(1);
  const ValidProgram valid = hosts::valid_program(files::open_file(folder / "program.pte"));
  return at->second = delegates::pieces_of(
             scenarios::recorded_program(program, folder / "program.pte", valid, std::move(calls)));
}

// -- a backend with faults --------------------------------------------------------------------------------------------

// A backend computes the payload of a piece: it may change the payload, and it may compute calls of operators wrongly.
struct Fault {
  std::string name, program;
  std::string kind;  // the kind of node that has the fault
  std::function<void(XnnpackPayload&, delegates::Payload&)> payload = {};
  CallOperator call = {};
};

judge::Judgement judged(const Piece& piece, const Fault& fault) {
  const delegates::RightGraphs right = delegates::right_graphs(piece.part.payload, piece.inputs);
  delegates::Payload payload = piece.part.payload;
  if (fault.payload) {
    XnnpackPayload decoded = taken(decode_xnnpack(payload.bytes));
    fault.payload(decoded, payload);
    payload.bytes = encode(decoded);
  }
  RuntimeOptions options;
  options.call = fault.call;
  hosts::Host host(hosts::valid_program(in_memory(encode(delegates::program_of(payload, piece.is_dynamic)))), options);
  return delegates::judge_outputs(right, host.call("forward", {piece.inputs.begin(), piece.inputs.end()}));
}

// The kinds of the nodes that fail, in the order of the payload.
std::vector<std::string> wrong_nodes(const Fault& fault) {
  std::vector<std::string> kinds;
  for (const auto& piece : pieces_of(fault.program)) {
    if (piece->extent != Extent::node) continue;
    if (judged(*piece, fault).verdict == verdict::Verdict::fail)
      kinds.push_back(piece->kinds.substr(piece->kinds.rfind(' ') + 1));
  }
  return kinds;
}

// -- faults in payloads -----------------------------------------------------------------------------------------------

// Changes the table of each node of these kinds.
template <class Table>
auto in_nodes(std::initializer_list<xnn::Operation> kinds, void (*change)(Table&)) {
  return [kinds = std::vector(kinds), change](XnnpackPayload& payload, delegates::Payload&) {
    for (auto& node : payload.graph.nodes)
      if (std::ranges::find(kinds, node->operation.type) != kinds.end())
        change(*static_cast<Table*>(node->operation.value));
  };
}
auto in_convolutions(void (*change)(xnn::ConvolutionT&)) {
  return in_nodes<xnn::ConvolutionT>(
      {xnn::Operation::Conv2d, xnn::Operation::DepthwiseConv2d, xnn::Operation::ConvTranspose2d}, change);
}
auto in_linears(void (*change)(xnn::FullyConnectedT&)) {
  return in_nodes<xnn::FullyConnectedT>({xnn::Operation::FullyConnected}, change);
}
auto in_bounds(void (*change)(xnn::BoundsT&)) {
  return [change](XnnpackPayload& payload, delegates::Payload&) {
    for (auto& node : payload.graph.nodes)
      if (node->bounds) change(*node->bounds);
  };
}
// Computes nodes of one kind as if they were of another kind with the same table.
auto as(xnn::Operation from, xnn::Operation to) {
  return [from, to](XnnpackPayload& payload, delegates::Payload&) {
    for (auto& node : payload.graph.nodes)
      if (node->operation.type == from) node->operation.type = to;
  };
}
// Changes the bytes of constants. `is_filter` selects values of these datatypes.
auto in_constants(std::initializer_list<format::xnnpack::Datatype> types, void (*change)(Bytes&)) {
  return [types = std::vector(types), change](XnnpackPayload& payload, delegates::Payload& files) {
    for (auto& value : payload.graph.values) {
      const auto* quantized = value->content.AsQuantizedTensor();
      const xnn::TensorT& t = quantized ? *quantized->tensor : *value->content.AsTensor();
      if (t.constant == 0 ||
          std::ranges::find(types, static_cast<format::xnnpack::Datatype>(t.datatype)) == types.end())
        continue;
      change(files.named.at(payload.graph.constants[t.constant]->name));
    }
  };
}
// Changes the scales of channels or groups.
auto in_scales(void (*change)(Bytes&)) {
  return [change](XnnpackPayload& payload, delegates::Payload& files) {
    for (auto& value : payload.graph.values) {
      const auto* quantized = value->content.AsQuantizedTensor();
      const auto* channels = quantized ? quantized->parameters.AsPerChannel() : nullptr;
      const auto* groups = quantized ? quantized->parameters.AsPerGroup() : nullptr;
      if (const std::uint32_t i = channels ? channels->scales : groups ? groups->scales : 0; i > 0)
        change(files.named.at(payload.graph.constants[i]->name));
    }
  };
}
// Changes the parameters of values of codes that nodes read, or of values that nodes write.
auto in_codes(std::uint32_t flag, void (*change)(xnn::PerTensorT&)) {
  return [flag, change](XnnpackPayload& payload, delegates::Payload&) {
    for (auto& value : payload.graph.values)
      if (auto* quantized = value->content.AsQuantizedTensor(); quantized && quantized->tensor->flags == flag)
        if (auto* whole = quantized->parameters.AsPerTensor()) change(*whole);
  };
}
template <std::size_t size>
void reverse_items(Bytes& bytes) {
  for (std::size_t i = 0, j = bytes.size(); i + size <= j; i += size) {
    j -= size;
    if (i >= j) break;
    std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                     bytes.begin() + static_cast<std::ptrdiff_t>(i + size),
                     bytes.begin() + static_cast<std::ptrdiff_t>(j));
  }
}
void exchange_nibbles(Bytes& bytes) {
  for (std::byte& b : bytes) b = (b << 4) | (b >> 4);
}

// -- faults in calls --------------------------------------------------------------------------------------------------

// Calls the operator with changed arguments.
CallOperator with_arguments(std::string_view name, std::function<void(std::span<Value>)> change) {
  return [name, change](const Operator& op, std::span<Value> arguments, const Budget& budget) {
    if (op.name == name) change(arguments);
    return call(op, arguments, budget);
  };
}
// Changes the numbers of the operator's first result.
CallOperator with_results(std::string_view name, std::function<void(Array<Real>&)> change) {
  return [name, change](const Operator& op, std::span<Value> arguments, const Budget& budget) {
    Answer answer = call(op, arguments, budget);
    if (op.name != name || answer.outcome != Outcome::ok) return answer;
    Tensor& out = std::get<Tensor>(arguments[op.arguments.size() - op.outs()]);
    Array<Real> numbers = read<Real>(out);
    change(numbers);
    write(numbers, out);
    return answer;
  };
}
CallOperator times(std::string_view name, Real factor) {
  return with_results(name, [factor](Array<Real>& numbers) {
    for (Real& x : numbers.data) x *= factor;
  });
}
CallOperator replaced(std::string_view name, std::size_t argument, const Value& by) {
  return with_arguments(name, [argument, by](std::span<Value> arguments) { arguments[argument] = by; });
}
CallOperator swapped(std::string_view name, std::size_t a, std::size_t b) {
  return with_arguments(name, [a, b](std::span<Value> arguments) { std::swap(arguments[a], arguments[b]); });
}
CallOperator turned(std::string_view name, std::size_t list) {
  return with_arguments(name,
                        [list](std::span<Value> arguments) { std::ranges::reverse(std::get<Ints>(arguments[list])); });
}
Tensor rounded_otherwise(const Tensor& t, Real (*round)(Real)) {
  Tensor result = t;
  Array<Real> numbers = read<Real>(t);
  for (Real& x : numbers.data) x = round(x);
  write(numbers, result);
  return result;
}

constexpr Real four_ulp = 1 + 0x1p-21;  // of float32

const std::vector<Fault>& faults() {
  using enum xnn::Operation;
  using enum format::xnnpack::Datatype;
  constexpr std::string_view quantize = "quantized_decomposed::quantize_per_tensor.out",
                             dequantize = "quantized_decomposed::dequantize_per_tensor.out";
  static const std::vector<Fault> all{
      {"bias dropped", "f32_linear", "FullyConnected", in_linears([](auto& t) { t.bias = format::xnnpack::no_id; })},
      {"filter read as [in, out]", "f32_products", "FullyConnected",
       in_constants({fp32}, reverse_items<sizeof(float)>)},
      {"bias of a convolution dropped", "f32_images", "ConvTranspose2d",
       in_nodes<xnn::ConvolutionT>({ConvTranspose2d}, [](auto& t) { t.bias = format::xnnpack::no_id; })},
      {"lower bound ignored", "static_int8_residual", "Add",
       in_bounds([](auto& b) { b.min = -std::numeric_limits<float>::infinity(); })},
      {"upper bound ignored", "f32_glue", "Clamp",
       in_bounds([](auto& b) { b.max = std::numeric_limits<float>::infinity(); })},
      {"zero point of inputs", "static_int8_product", "Multiply",
       [](XnnpackPayload& p, delegates::Payload& f) {
         if (p.graph.nodes.front()->operation.type == Multiply)
           in_codes(format::xnnpack::input_flag, [](auto& q) { ++q.zero_point; })(p, f);
       }},
      {"zero point of outputs", "static_int8_product", "Add",
       [](XnnpackPayload& p, delegates::Payload& f) {
         if (p.graph.nodes.front()->operation.type == Add)
           in_codes(format::xnnpack::output_flag, [](auto& q) { ++q.zero_point; })(p, f);
       }},
      {"scale of outputs", "static_int8_conv", "Conv2d",
       [](XnnpackPayload& p, delegates::Payload& f) {
         if (p.graph.nodes.front()->operation.type == Conv2d)
           in_codes(format::xnnpack::output_flag, [](auto& q) { q.scale *= 1.03125f; })(p, f);
       }},
      {"scales of channels reversed", "static_int8_product", "FullyConnected", in_scales(reverse_items<sizeof(float)>)},
      {"scales of groups reversed", "8da4w_linear", "FullyConnected", in_scales(reverse_items<2>)},
      {"nibbles exchanged", "dynamic_int4_linear", "FullyConnected", in_constants({qcint4, qbint4}, exchange_nibbles)},
      {"nibbles of groups exchanged", "8da4w_linear", "FullyConnected",
       in_constants({qcint4, qbint4}, exchange_nibbles)},
      {"add for subtract", "f32_binary", "Subtract", as(Subtract, Add)},
      {"minimum for maximum", "f32_binary", "Maximum", as(Maximum, Minimum)},
      {"floor for ceil", "f32_unary", "Ceiling", as(Ceiling, Floor)},
      {"sine for cosine", "f32_unary", "Cos", as(Cos, Sin)},
      {"negation ignored", "f32_unary", "Negate", as(Negate, Copy)},
      {"absolute value ignored", "f32_glue", "Abs", as(Abs, Copy)},
      {"division swapped", "f32_binary", "Div",
       in_nodes<xnn::BinaryT>({Div}, [](auto& t) { std::swap(t.input1, t.input2); })},
      {"subtraction swapped", "f32_glue", "Subtract",
       in_nodes<xnn::BinaryT>({Subtract}, [](auto& t) { std::swap(t.input1, t.input2); })},
      {"slope of negative numbers", "f32_unary", "LeakyReLU",
       in_nodes<xnn::LeakyReLUT>({LeakyReLU}, [](auto& t) { t.slope = 0.01f; })},
      {"pad by another number", "f32_moves", "StaticConstantPad",
       in_nodes<xnn::PadT>({StaticConstantPad}, [](auto& t) { t.value = 0; })},
      {"pad before and after swapped", "f32_glue", "StaticConstantPad",
       in_nodes<xnn::PadT>({StaticConstantPad}, [](auto& t) { std::swap(t.before, t.after); })},
      {"slice begins one too early", "f32_moves", "StaticSlice",
       in_nodes<xnn::SliceT>({StaticSlice},
                             [](auto& t) {
                               for (auto& o : t.offsets) o -= o > 0;
                             })},
      {"corners not aligned", "f32_pools", "StaticResizeBilinear2D",
       in_nodes<xnn::ResizeT>({StaticResizeBilinear2D}, [](auto& t) { t.flags = 0; })},
      {"inputs of a concatenation swapped", "f32_moves", "Concatenate4",
       in_nodes<xnn::ConcatenationT>({Concatenate4},
                                     [](auto& t) { std::swap(t.input2, t.input4), std::swap(t.input1, t.input2); })},
      {"padding at the other side", "f32_pools", "MaxPooling2d",
       in_nodes<xnn::PoolingT>({MaxPooling2d}, [](auto& t) { std::swap(t.padding_top, t.padding_bottom); })},
      {"padding counted in an average", "f32_pools", "AvgPooling2d", {}, replaced("aten::avg_pool2d.out", 5, true)},
      {"kernel of an average turned", "f32_pools", "AvgPooling2d", {}, times("aten::avg_pool2d.out", 6.0 / 5)},
      {"tanh form of gelu", "f32_linear", "Gelu", {}, replaced("aten::gelu.out", 1, std::string("tanh"))},
      {"exponential with 11 bits", "f32_unary", "Exp", {}, times("aten::exp.out", 1 + 0x1p-12)},
      {"sigmoid is 8 ulp too large", "f32_unary", "Sigmoid", {}, times("aten::sigmoid.out", 1 + 0x1p-20)},
      {"tanh is 8 ulp too large", "f32_glue", "Tanh", {}, times("aten::tanh.out", 1 + 0x1p-20)},
      {"square root is 4 ulp too large", "f32_glue", "SquareRoot", {}, times("aten::sqrt.out", four_ulp)},
      {"reciprocal root by a table", "f32_unary", "ReciprocalSquareRoot", {}, times("aten::rsqrt.out", 1 - 0x1p-11)},
      {"logarithm to base 2", "f32_unary", "Log", {}, times("aten::log.out", 1.4426950408889634)},
      {"product is 4 ulp too large", "f32_binary", "Multiply", {}, times("aten::mul.out", four_ulp)},
      {"softmax along another dim", "f32_add", "Softmax", {}, replaced("aten::_softmax.out", 1, Int{0})},
      {"matrix product is 1/4096 too small",
       "f32_products",
       "BatchMatrixMultiply",
       {},
       times("aten::bmm.out", 1 - 0x1p-12)},
      {"last channel not computed",
       "f32_conv",
       "Conv2d",
       {},
       with_results("aten::convolution.out", [](Array<Real>& x) { x.data.back() = 0; })},
      {"mean of one element too few", "f32_pools", "GlobalAvgPooling2d", {}, times("aten::mean.out", 42.0 / 41)},
      {"elements of a transpose reversed",
       "f32_glue",
       "StaticTranspose",
       {},
       with_results("aten::permute_copy.out", [](Array<Real>& x) { std::ranges::reverse(x.data); })},
      {"elements of a view reversed",
       "f32_glue",
       "StaticReshape",
       {},
       with_results("aten::view_copy.out", [](Array<Real>& x) { std::ranges::reverse(x.data); })},
      {"codes rounded down",
       "static_int8_conv",
       "Convert",
       {},
       with_arguments(quantize,
                      [](std::span<Value> a) {
                        a[0] = rounded_otherwise(std::get<Tensor>(a[0]), [](Real x) { return x - 0.004; });
                      })},
      {"one code too large",
       "static_int8_activations",
       "Sigmoid",
       {},
       with_results("aten::sigmoid.out",
                    [](Array<Real>& x) {
                      for (Real& y : x.data) y += 0.01;
                    })},
      {"codes read without zero point",
       "static_int8_residual",
       "Convert",
       {},
       [dequantize](const Operator& op, std::span<Value> a, const Budget& budget) {
         if (op.name == dequantize && std::get<double>(a[1]) != 1) a[2] = Int{0};
         return call(op, a, budget);
       }},
      {"sum of codes rounded down",
       "static_int8_residual",
       "Add",
       {},
       with_arguments("aten::add.Scalar_out",
                      [](std::span<Value> a) {
                        if (auto* n = std::get_if<Int>(&a[1]); n && *n > (1 << 16)) *n -= Int{1} << 18;
                      })},
      {"range of rows without zero",
       "dynamic_int8_linear",
       "FullyConnected",
       {},
       with_results("aten::amin.out",
                    [](Array<Real>& x) {
                      for (Real& y : x.data) y /= 2;
                    })},
      {"zero point of rows is one too large",
       "8da4w_linear",
       "FullyConnected",
       {},
       times("aten::reciprocal.out", 1.01)},
      {"average of codes is one step too large",
       "static_int8_residual",
       "GlobalAvgPooling2d",
       {},
       with_arguments("aten::rsub.Scalar_out", [](std::span<Value> a) { a[1] = std::get<double>(a[1]) + 1; })},
      {"sums of halves are 1/16 too large", "f16_linear", "FullyConnected", {}, times("aten::addmm.out", 1 + 0x1p-4)},
      {"batch computed as one",
       "dynamic_sequence",
       "BatchMatrixMultiply",
       {},
       with_results("aten::bmm.out", [](Array<Real>& x) { x.data.back() = x.data.front(); })},
  };
  return all;
}

class Planted : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Faults, Planted, testing::ValuesIn(faults()), [](const auto& tested) {
  std::string name = "f_" + tested.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name + "_in_" + tested.param.program.substr(0, 3) + std::to_string(tested.index);
});

TEST_P(Planted, IsFoundInItsNode) {
  const auto wrong = wrong_nodes(GetParam());
  EXPECT_THAT(wrong, Not(IsEmpty()));
  EXPECT_THAT(wrong, Contains(GetParam().kind));
  if (!wrong.empty()) EXPECT_EQ(wrong.front(), GetParam().kind);
}

// -- without a fault --------------------------------------------------------------------------------------------------

std::vector<std::string> programs() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(delegated_programs))
    if (entry.is_directory()) all.push_back(entry.path().filename().string());
  std::ranges::sort(all);
  return all;
}

bool is_one_delegate(const std::string& program) {
  const ValidProgram valid = hosts::valid_program(files::open_file(delegated_programs / program / "program.pte"));
  const pte::Chain& chain = *valid.plan("forward")->chains()->Get(0);
  return chain.instructions()->size() == 1 && chain.instructions()->Get(0)->instr_args_as_DelegateCall();
}

class Golden : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Programs, Golden, testing::ValuesIn(programs()),
                         [](const auto& tested) { return "p_" + tested.param; });

TEST_P(Golden, EveryNodeAndPairOfTheReferenceIsRightAndDecided) {
  for (const auto& piece : pieces_of(GetParam())) {
    const judge::Judgement j = judged(*piece, {});
    if (piece->extent == Extent::whole)
      EXPECT_FALSE(verdict::is_failure(j.verdict)) << piece->id << ": " << j.message;
    else
      EXPECT_EQ(j.verdict, verdict::Verdict::pass) << piece->id << ": " << j.message;
  }
}

// The official runtime computes these programs less accurately than the entries of the operators require: Exp, Log,
// Sin, Cos, SquareRoot and other functions have errors of several ulp.
const std::set<std::string> inaccurate{"f16_unary", "f32_unary"};

// It sums float16 numbers in float16, which is right. The intervals of such sums may be too wide to decide.
TEST(HalfSums, AreRightInEitherDtypeAndOtherwiseWrong) {
  const Piece& linear = *pieces_of("f16_linear").front();
  const auto verdict = [&](Real factor) { return judged(linear, {.call = times("aten::addmm.out", factor)}).verdict; };
  EXPECT_EQ(verdict(1), verdict::Verdict::pass);
  EXPECT_EQ(verdict(1 + 0x1p-9), verdict::Verdict::undecided);
  EXPECT_EQ(verdict(1 + 0x1p-4), verdict::Verdict::fail);
}

// The results that the official runtime gave. Most of these programs are one delegate.
TEST_P(Golden, TheOfficialOutputsOfAWholeDelegateAreRight) {
  const Piece& whole = *pieces_of(GetParam()).back();
  const std::vector<Value> outputs =
      *hosts::read_calls(delegated_programs / GetParam() / "calls.json").calls.front().outputs;
  if (!is_one_delegate(GetParam())) GTEST_SKIP();
  const judge::Judgement j =
      delegates::judge_outputs(delegates::right_graphs(whole.part.payload, whole.inputs), outputs);
  EXPECT_EQ(verdict::is_failure(j.verdict), inaccurate.contains(GetParam())) << j.message;
}

// -- whole programs ---------------------------------------------------------------------------------------------------

const fs::path defects = golden_folder() / "delegate_defects";

// The verdict on a program of golden/delegate_defects, judged by its plain program, if the reference runs `file`.
verdict::Verdict judged_as_a_whole(const std::string& program, const char* file) {
  const fs::path folder = defects / program;
  const auto valid = [&](const char* name) { return hosts::valid_program(files::open_file(folder / name)); };
  const auto recorded = std::make_shared<scenarios::RecordedProgram>(scenarios::recorded_program(
      program, folder / "program.pte", valid("program.pte"), hosts::read_calls(folder / "calls.json")));
  const auto pieces = delegates::pieces_against(recorded, valid("plain.pte"));
  EXPECT_EQ(pieces.size(), 1u);
  const scenarios::Step call = delegates::scenario(pieces.front()).script().steps.back();
  hosts::Host host(valid(file));
  return call.judge({{}, host.call(call.method, call.inputs)}).verdict;
}

TEST(WholePrograms, AreJudgedByTheirPlainPrograms) {
  // The exporter makes payloads of these programs that compute something else.
  for (const char* program : {"int8_weights_only", "int4_weights_only", "tanh_gelu"}) {
    EXPECT_EQ(judged_as_a_whole(program, "program.pte"), verdict::Verdict::fail) << program;
    EXPECT_EQ(judged_as_a_whole(program, "plain.pte"), verdict::Verdict::pass) << program;
  }
}

TEST(WholePrograms, NeedAPlainProgramOfOperators) {
  const auto pieces = [](const char* graph) {
    const fs::path folder = defects / "tanh_gelu";
    const ValidProgram program = hosts::valid_program(files::open_file(folder / "program.pte"));
    return delegates::pieces_against(
        std::make_shared<scenarios::RecordedProgram>(scenarios::recorded_program(
            "gelu", folder / "program.pte", program, hosts::read_calls(folder / "calls.json"))),
        hosts::valid_program(files::open_file(folder / graph)));
  };
  EXPECT_NO_THROW(pieces("plain.pte"));
  try {
    pieces("program.pte");
    ADD_FAILURE() << "a delegate is no operator";
  } catch (const assay::Fault& fault) {
    EXPECT_EQ(fault.rule, "delegate.graph");
    EXPECT_EQ(fault.outcome, Outcome::unsupported);
  }
}

}  // namespace delegates_test
}  // namespace assay
