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
#include "tests/support/planted_payloads.h"

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
