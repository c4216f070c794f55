#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "conformance/corrupt/delegated.h"
#include "conformance/delegates/defects.h"
#include "conformance/delegates/plain_cutter.h"
#include "conformance/hosts/host.h"
#include "reference/numerics/bounds.h"
#include "reference/program/build.h"
#include "reference/program/taken.h"
#include "tests/support/golden.h"
#include "tests/support/planted_payloads.h"
#include "tests/support/tensors.h"

// Pieces of delegates, judged: the reference is right, and planted faults are found in the node that has them.
namespace assay {
namespace delegates_test {

namespace fs = std::filesystem;
using delegates::Extent;
using delegates::Piece;
using planted_payloads::Fault;
using planted_payloads::faults;
using planted_payloads::times;
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

// -- with a fault -----------------------------------------------------------------------------------------------------

judge::Judgement judged(const Piece& piece, const Fault& fault) {
  const delegates::Cut cut = piece.cut();
  const delegates::RightGraphs right = delegates::right_graphs(cut.part.payload, cut.inputs);
  delegates::Payload payload = cut.part.payload;
  if (fault.payload) {
    XnnpackPayload decoded = taken(decode_xnnpack(payload.bytes));
    fault.payload(decoded, payload);
    payload.bytes = encode(decoded);
  }
  RuntimeOptions options;
  options.call = fault.call;
  hosts::Host host(hosts::valid_program(in_memory(encode(delegates::program_of(payload, cut.is_dynamic)))), options);
  return delegates::judge_outputs(right, host.call("forward", {cut.inputs.begin(), cut.inputs.end()}));
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

// -- a few steps ------------------------------------------------------------------------------------------------------

// The verdict on the first node of this kind, which computes its results some steps too large.
verdict::Verdict stepped(const std::string& program, const std::string& kind, Int steps,
                         planted_payloads::Where where) {
  const auto& pieces = pieces_of(program);
  const auto piece = std::ranges::find_if(
      pieces, [&](const auto& p) { return p->extent == Extent::node && p->kinds.ends_with(kind); });
  const delegates::Cut cut = (*piece)->cut();
  const xnnpack::Graph graph(cut.part.payload.bytes, {}, cut.part.payload.finder(), xnnpack::Form::folded);
  return judged(**piece, {.call = planted_payloads::off_in_value(graph, cut.part.outputs.at(0), steps, where)}).verdict;
}

TEST(Steps, OfOneElementAreFoundIfItHasFewRightValues) {
  using enum planted_payloads::Where;
  for (const auto& [program, kind] : {std::pair("f32_binary", "Multiply"), std::pair("f32_moves", "StaticSlice")}) {
    EXPECT_EQ(stepped(program, kind, 0, in_one_element), verdict::Verdict::pass) << kind;
    EXPECT_EQ(stepped(program, kind, 4, in_one_element), verdict::Verdict::fail) << kind;
  }
  for (const auto& [program, kind] :
       {std::pair("static_int8_conv", "Conv2d"), std::pair("static_int8_residual", "Add")}) {
    EXPECT_EQ(stepped(program, kind, 0, in_one_element), verdict::Verdict::pass) << kind;
    EXPECT_EQ(stepped(program, kind, 1, in_one_element), verdict::Verdict::fail) << kind;
  }
}

// A linear layer of 64 rows and 40 outputs whose sums are long enough that four units in the last place of one of them
// are less than other orders of the sum differ by.
class LongSums : public testing::Test {
 protected:
  static constexpr std::uint32_t rows = 64, inputs = 300, outputs = 40;

  LongSums() {
    std::mt19937 generator(11);
    std::uniform_real_distribution<float> number(-1, 1);
    const auto numbers = [&](std::size_t n) {
      std::vector<float> all(n);
      for (float& x : all) x = number(generator);
      return all;
    };
    corrupt::Delegated d;
    d.clear();
    xnn::FullyConnectedT t;
    t.input = d.input({rows, inputs}), t.output = d.output({rows, outputs});
    weights_ = numbers(outputs * inputs), x_ = numbers(rows * inputs);
    const auto bytes = std::as_bytes(std::span(weights_));
    t.filter = d.constant({outputs, inputs}, {bytes.begin(), bytes.end()});
    t.bias = format::xnnpack::no_id;
    d.node(xnn::Operation::FullyConnected, t);
    right_ = delegates::right_graphs({encode(d.payload), {}},
                                     std::vector{tensor(DType::float32, {rows, inputs}, {x_.begin(), x_.end()})});
  }

  // The sums, rounded after each product and each addition.
  std::vector<Real> in_sequence() const {
    std::vector<Real> all;
    for (std::uint32_t r = 0; r < rows; ++r)
      for (std::uint32_t o = 0; o < outputs; ++o) {
        float sum = 0;
        for (std::uint32_t i = 0; i < inputs; ++i) {
          const volatile float product = x_[r * inputs + i] * weights_[o * inputs + i];
          sum += product;
        }
        all.push_back(sum);
      }
    return all;
  }
  judge::Judgement judged(std::vector<Real> sums, Int steps) const {
    for (Real& x : sums) x = planted_payloads::stepped(DType::float32, x, steps);
    return delegates::judge_outputs(right_, std::vector<Value>{tensor(DType::float32, {rows, outputs}, sums)});
  }

  std::vector<float> weights_, x_;
  delegates::RightGraphs right_;
};

TEST_F(LongSums, AreRightInAnyOrder) { EXPECT_EQ(judged(in_sequence(), 0).verdict, verdict::Verdict::pass); }
TEST_F(LongSums, AreWrongIfAllAreAFewStepsTooLarge) {
  EXPECT_EQ(judged(in_sequence(), 1).verdict, verdict::Verdict::pass);
  for (const Int steps : {4, -4}) {
    const judge::Judgement j = judged(in_sequence(), steps);
    EXPECT_EQ(j.verdict, verdict::Verdict::fail);
    EXPECT_THAT(j.message, testing::HasSubstr("have a common error"));
  }
}
// One element in the middle: no order of the sum is ruled out.
TEST_F(LongSums, MayEachBeAFewStepsOff) {
  std::vector<Real> sums = in_sequence();
  sums[sums.size() / 2] = planted_payloads::stepped(DType::float32, sums[sums.size() / 2], 4);
  EXPECT_EQ(judged(sums, 0).verdict, verdict::Verdict::pass);
}

// A softmax of rows that are long enough that four units in the last place are less than other orders of the sum differ
// by.
class Rows {
 public:
  static constexpr std::uint32_t columns = 40;

  // `most` is the number at the begin of each row. All others lie around 0.
  explicit Rows(std::uint32_t rows, Real most = 1) : rows_(rows) {
    std::mt19937 generator(12);
    std::uniform_real_distribution<float> number(-1, 1);
    for (std::uint32_t k = 0; k < rows * columns; ++k)
      x_.push_back(k % columns == 0 ? most + number(generator) / 64 : number(generator) / 16);
    corrupt::Delegated d;
    d.clear();
    const auto x = d.input({rows, columns}), y = d.output({rows, columns});
    d.unary(xnn::Operation::Softmax, x, y);
    right_ = delegates::right_graphs({encode(d.payload), {}}, std::vector{tensor(DType::float32, sizes(), x_)});
  }

  // In float32, with a sum from the first to the last term.
  std::vector<Real> in_sequence() const {
    std::vector<Real> all;
    for (std::uint32_t r = 0; r < rows_; ++r) {
      const auto row = x_.begin() + r * columns;
      float sum = 0;
      for (std::uint32_t k = 0; k < columns; ++k) sum += static_cast<float>(std::exp(row[k] - row[0]));
      for (std::uint32_t k = 0; k < columns; ++k) all.push_back(static_cast<float>(std::exp(row[k] - row[0])) / sum);
    }
    return all;
  }
  // The exact results times 1 + units 2^-24.
  std::vector<Real> with_common_error(Real units) const {
    std::vector<Real> all;
    for (std::uint32_t r = 0; r < rows_; ++r) {
      const auto row = x_.begin() + r * columns;
      const Real sum = std::accumulate(row, row + columns, Real{0}, [](Real s, Real x) { return s + std::exp(x); });
      for (std::uint32_t k = 0; k < columns; ++k)
        all.push_back(round_to(DType::float32, std::exp(row[k]) / sum * (1 + units * 0x1p-24)));
    }
    return all;
  }
  verdict::Verdict judged(std::vector<Real> results, Int steps = 0) const {
    for (Real& y : results) y = planted_payloads::stepped(DType::float32, y, steps);
    return delegates::judge_outputs(right_, std::vector<Value>{tensor(DType::float32, sizes(), results)}).verdict;
  }

 private:
  Dims sizes() const { return {rows_, columns}; }

  std::uint32_t rows_;
  std::vector<Real> x_;
  delegates::RightGraphs right_;
};

TEST(Softmax, HasACommonErrorOfFourRoundingsAtMost) {
  const Rows rows(100);
  EXPECT_EQ(rows.judged(rows.in_sequence()), verdict::Verdict::pass);
  for (const Int steps : {4, -4}) EXPECT_EQ(rows.judged(rows.in_sequence(), steps), verdict::Verdict::fail);
  for (const Real sign : {1, -1}) {
    EXPECT_EQ(rows.judged(rows.with_common_error(4 * sign)), verdict::Verdict::pass);
    EXPECT_EQ(rows.judged(rows.with_common_error(5 * sign)), verdict::Verdict::fail);
  }
}
TEST(Softmax, MayHaveTheErrorOfOneSumInFewRows) {
  const Rows rows(99);
  EXPECT_EQ(rows.judged(rows.in_sequence(), 4), verdict::Verdict::pass);
}
TEST(Softmax, MayLoseTermsThatAreSmallBesideTheSum) {
  const Rows rows(100, 17);  // e^-17 is less than 2^-24
  EXPECT_EQ(rows.in_sequence().front(), 1);
  EXPECT_EQ(rows.judged(rows.in_sequence()), verdict::Verdict::pass);
}

// A Hardswish of these numbers.
class Hardswish : public testing::TestWithParam<DType> {
 protected:
  using Form = std::function<Real(Real x)>;

  Real rounded(Real x) const { return round_to(GetParam(), x); }
  Real clamped(Real x, Real most) const { return std::clamp<Real>(x, 0, most); }
  Real unit() const { return ulp(GetParam(), 1) / 2; }
  // The largest error of spec/delegates.md for a number between -3 and 3.
  Real bound(Real x) const {
    const Real sum = unit() * (x + 3 + 1.5 * std::fabs(x));
    return std::fabs(x) / 6 * sum + 2.5 * unit() * std::fabs(x * (x + 3) / 6);
  }

  std::vector<Real> results(const Form& form) const {
    std::vector<Real> all;
    std::ranges::transform(numbers_, std::back_inserter(all), form);
    return all;
  }
  verdict::Verdict judged(const std::vector<Real>& results) const {
    const Dims sizes{static_cast<Int>(results.size())};
    return delegates::judge_outputs(right_, std::vector<Value>{tensor(GetParam(), sizes, results)}).verdict;
  }
  // The verdict if only the result for this number is another one.
  verdict::Verdict judged_with(Real number, Real result) const {
    return judged(results([&](Real x) { return x == rounded(number) ? result : x * clamped(x + 3, 6) / 6; }));
  }

  void SetUp() override {
    for (Real& x : numbers_) x = rounded(x);
    for (int i = 0; i < 500; ++i) numbers_.push_back(rounded(-4 + i * 0.0161803399));
    const bool is_half = GetParam() == DType::float16;
    const auto type = is_half ? format::xnnpack::Datatype::fp16 : format::xnnpack::Datatype::fp32;
    const auto n = static_cast<std::uint32_t>(numbers_.size());
    corrupt::Delegated d;
    d.clear();
    const auto x = d.input({n}, type, GetParam());
    d.unary(xnn::Operation::Hardswish, x, d.output({n}, type, GetParam()));
    right_ = delegates::right_graphs({encode(d.payload), {}},
                                     std::vector{tensor(GetParam(), {static_cast<Int>(n)}, numbers_)});
  }

  std::vector<Real> numbers_{-2.9, -1, 0.004, 1.38, 2.9, -50, -3, 3, 50, 0, -1e-30};
  delegates::RightGraphs right_;
};
INSTANTIATE_TEST_SUITE_P(DTypes, Hardswish, testing::Values(DType::float32, DType::float16),
                         [](const auto& tested) { return tested.param == DType::float16 ? "float16" : "float32"; });

TEST_P(Hardswish, MayBeComputedInAnyOrder) {
  const auto r = [&](Real x) { return rounded(x); };
  const Real sixth = r(1.0 / 6);
  const auto six = [&](Real x) { return clamped(r(x + 3), 6); };
  const std::pair<const char*, Form> forms[] = {
      {"x c / 6", [&](Real x) { return r(r(x * six(x)) / 6); }},
      {"x (c / 6)", [&](Real x) { return r(x * r(six(x) / 6)); }},
      {"(x / 6) c", [&](Real x) { return r(r(x / 6) * six(x)); }},
      {"x c s", [&](Real x) { return r(r(x * six(x)) * sixth); }},
      {"x clamp(x s + 1/2)", [&](Real x) { return r(x * clamped(r(r(x * sixth) + 0.5), 1)); }},
      {"x clamp(x s + 1/2), fused", [&](Real x) { return r(x * clamped(r(x * sixth + 0.5), 1)); }}};
  for (const auto& [what, form] : forms) EXPECT_EQ(judged(results(form)), verdict::Verdict::pass) << what;
}

TEST_P(Hardswish, IsWrongBeyondItsBound) {
  for (const Real number : {-2.9, -1.0, 0.004, 1.38, 2.9}) {
    const Real x = rounded(number), value = x * (x + 3) / 6, step = ulp(GetParam(), value);
    for (const int direction : {-1, 1}) {
      const Real within = value + direction * std::max<Real>(0, bound(x) - step),
                 beyond = value + direction * (1.01 * bound(x) + 2 * step);
      EXPECT_EQ(judged_with(number, within), verdict::Verdict::pass) << number;
      EXPECT_EQ(judged_with(number, beyond), verdict::Verdict::fail) << number;
    }
  }
  const auto right = [&](Real x) { return x * clamped(x + 3, 6) / 6; };
  EXPECT_EQ(judged(results([&](Real x) { return planted_payloads::stepped(GetParam(), rounded(right(x)), 4); })),
            verdict::Verdict::fail);
  EXPECT_EQ(judged_with(1.38, planted_payloads::stepped(GetParam(), rounded(right(rounded(1.38))), 4)),
            verdict::Verdict::fail);
  EXPECT_EQ(judged(results([&](Real x) { return right(x) * (1 + 8 * unit()); })), verdict::Verdict::fail);
  EXPECT_EQ(judged(results([&](Real x) { return x * clamped(x + 3 + 16 * unit(), 6) / 6; })), verdict::Verdict::fail);
}

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

// A convolution whose results are inf and NaN, and a ReLU and a convolution that read them.
TEST(Overflow, OfTheReferenceIsRight) {
  for (const auto& piece : pieces_of("f16_conv")) {
    delegates::Cut cut = piece->cut();
    for (auto& [key, bytes] : cut.part.payload.named)
      for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        const float weight = i % 12 == 0 ? -3e38f : 3e38f;
        std::memcpy(bytes.data() + i, &weight, sizeof weight);
      }
    const delegates::RightGraphs right = delegates::right_graphs(cut.part.payload, cut.inputs);
    hosts::Host host(hosts::valid_program(in_memory(encode(cut.program()))));
    const auto judged = delegates::judge_outputs(right, host.call("forward", {cut.inputs.begin(), cut.inputs.end()}));
    EXPECT_NE(judged.verdict, verdict::Verdict::fail) << piece->description << ": " << judged.message;
  }
}

// The official runtime sums float16 numbers in float16, which is right. The intervals of such sums may be too wide to
// decide.
TEST(HalfSums, AreRightInEitherDtypeAndOtherwiseWrong) {
  const Piece& linear = *pieces_of("f16_linear").front();
  const auto verdict = [&](Real factor) { return judged(linear, {.call = times("aten::addmm.out", factor)}).verdict; };
  EXPECT_EQ(verdict(1), verdict::Verdict::pass);
  EXPECT_EQ(verdict(1 + 0x1p-9), verdict::Verdict::undecided);
  EXPECT_EQ(verdict(1 + 0x1p-4), verdict::Verdict::fail);
}

// The results that the official runtime gave. Most of these programs are one delegate.
TEST_P(Golden, TheOfficialOutputsOfAWholeDelegateAreRight) {
  const delegates::Cut whole = pieces_of(GetParam()).back()->cut();
  const std::vector<Value> outputs =
      *hosts::read_calls(delegated_programs / GetParam() / "calls.json").calls.front().outputs;
  if (!is_one_delegate(GetParam())) GTEST_SKIP();
  const judge::Judgement j =
      delegates::judge_outputs(delegates::right_graphs(whole.part.payload, whole.inputs), outputs);
  EXPECT_EQ(verdict::is_failure(j.verdict), inaccurate.contains(GetParam())) << j.message;
}

// -- nodes that share an input ----------------------------------------------------------------------------------------

// Both convolutions of this program read what one Convert quantizes. Each is judged alone, and both together.
TEST(SharedRows, AreJudgedWithOneReaderAndWithAll) {
  const fs::path folder = golden_folder() / "delegate_defects" / "shared_images";
  const auto pieces = delegates::pieces_of(scenarios::recorded_program(
      "shared", folder / "program.pte", hosts::valid_program(files::open_file(folder / "program.pte")),
      hosts::read_calls(folder / "calls.json")));
  std::vector<std::string> ids;
  for (const auto& piece : pieces) {
    EXPECT_EQ(judged(*piece, {}).verdict, verdict::Verdict::pass) << piece->id;
    ids.push_back(piece->kinds);
  }
  EXPECT_THAT(ids, Contains("Convert + Conv2d").Times(2));
  EXPECT_THAT(ids, Contains("Convert + Conv2d + Conv2d"));
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

// Exporters place a view of fixed sizes in the memory of its base, and no instruction writes it.
TEST(WholePrograms, KeepTheIntervalsOfViews) {
  constexpr auto type = DType::float32;
  ProgramBuilder program;
  program.constants();
  PlanBuilder plan = program.method();
  const auto x = plan.planned(type, {2, 64}, 1, 0), y = plan.planned(type, {64, 2}, 1, 512),
             product = plan.planned(type, {2, 2}, 1, 1024), view = plan.planned(type, {4}, 1, 1024),
             out = plan.planned(type, {4}, 1, 1088);
  plan.plan().inputs = {x, y}, plan.plan().outputs = {out};
  plan.call_named("aten::mm.out", {{"self", x}, {"mat2", y}, {"out", product}});
  plan.call_named("aten::relu.out", {{"self", view}, {"out", out}});
  const auto thirds = [](const Dims& sizes) {
    Array<Real> numbers(sizes);
    std::ranges::fill(numbers.data, 1.0 / 3);
    Tensor t = make(type, sizes);
    write(numbers, t);
    return t;
  };
  const std::vector<Value> inputs{thirds({2, 64}), thirds({64, 2})};
  delegates::IntervalMethod method(hosts::valid_program(in_memory(program.bytes())), "forward");
  const auto [expected, interval] = method.run(inputs).front();
  for (Int k = 0; k < 4; ++k) {
    EXPECT_LT(read<Real>(interval.lowest)[k], read<Real>(expected)[k]);
    EXPECT_GT(read<Real>(interval.highest)[k], read<Real>(expected)[k]);
  }
}

// Each output of a recorded program is an output of one of its parts of one call each.
TEST(PlainParts, ComputeWhatTheWholeMethodComputes) {
  for (const char* name : {"mlp", "cnn", "view_copies"}) {
    const fs::path folder = golden_folder() / "programs" / name;
    const hosts::ProgramCall call = hosts::read_calls(folder / "calls.json").calls.front();
    const ValidProgram plain = hosts::valid_program(files::open_file(folder / "program.pte"));
    hosts::Host whole(plain);
    const delegates::PlainCutter cutter(plain, call.method, hosts::adapted(whole.plan(call.method), call.inputs), {});
    std::vector<Buffer<std::byte>> outputs;
    for (std::uint32_t i = 0; i < cutter.calls(); ++i) {
      const delegates::PlainPart part = cutter.cut(i, i + 1);
      hosts::Host host(hosts::valid_program(in_memory(encode(part.program))));
      for (const Value& output : host.call("forward", {part.inputs.begin(), part.inputs.end()}))
        outputs.push_back(std::get<Tensor>(output).bytes);
    }
    for (const Value& output : whole.call(call.method, call.inputs))
      EXPECT_THAT(outputs, Contains(std::get<Tensor>(output).bytes)) << name;
  }
}

TEST(PlainParts, CannotBeCutIfAnInstructionChangesATensor) {
  const fs::path folder = golden_folder() / "programs" / "kv_cache";
  const hosts::ProgramCall call = hosts::read_calls(folder / "calls.json").calls.front();
  const ValidProgram plain = hosts::valid_program(files::open_file(folder / "program.pte"));
  try {
    const delegates::PlainCutter cutter(plain, call.method, call.inputs, {});
    FAIL() << "the method was cut";
  } catch (const assay::Fault& fault) {
    EXPECT_EQ(fault.rule, "delegate.build");
    EXPECT_THAT(fault.message, testing::HasSubstr("is changed"));
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
