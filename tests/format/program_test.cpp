#include <gmock/gmock-matchers.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "conformance/corrupt/complete.h"
#include "conformance/corrupt/delegated.h"
#include "conformance/corrupt/sample.h"
#include "conformance/files/file.h"
#include "conformance/inspect/check.h"
#include "conformance/inspect/describe.h"
#include "reference/program/decoded.h"
#include "tests/support/program_folders.h"

// Decoding and encoding keep all data, and the files of the official exporter keep every rule.
namespace assay {
namespace program_test {

namespace fs = std::filesystem;

template <class Decode>
void expect_the_same_again(std::span<const std::byte> file, Decode decode) {
  const auto first = decode(file);
  ASSERT_TRUE(first) << first.faults.at(0).message;
  const Bytes bytes = encode(*first);
  EXPECT_EQ(bytes, encode(*first));
  const auto second = decode(bytes);
  ASSERT_TRUE(second) << second.faults.at(0).message;
  EXPECT_TRUE(*second == *first);
  EXPECT_EQ(encode(*second), bytes);
}

TEST(Program, IsEqualAfterEncodingAndDecoding) {
  for (const std::size_t alignment : {16u, 128u, 4096u})
    expect_the_same_again(encode(corrupt::Sample().program, alignment), decode_program);
}
TEST(DataFile, IsEqualAfterEncodingAndDecoding) {
  expect_the_same_again(encode(corrupt::Sample().data), decode_data_file);
}
TEST(BundledProgram, IsEqualAfterEncodingAndDecoding) {
  expect_the_same_again(corrupt::Sample().encoded_bundle(), decode_bundle);
  EXPECT_TRUE(decode_program(std::as_bytes(std::span(decode_bundle(corrupt::Sample().encoded_bundle())->program))));
}

// The empty program has no alignment.
TEST(BundledProgram, WithAnEmptyProgramIsEqualAfterEncodingAndDecoding) {
  for (std::size_t n = 0; n < 16; ++n) {
    BundledProgram bundle;
    bundle.method_test_suites.push_back(std::make_unique<bpte::BundledMethodTestSuiteT>());
    bundle.method_test_suites.front()->method_name = std::string(n, 'f');
    const auto again = decode_bundle(encode(bundle));
    ASSERT_TRUE(again) << n << ": " << again.faults.front().message;
    EXPECT_TRUE(*again == bundle);
  }
}

TEST(Program, KeepsTheSignOfAZeroAfterEncoding) {
  Program program;
  PlanBuilder plan(*program.tables.execution_plan.emplace_back(std::make_unique<pte::ExecutionPlanT>()));
  for (const double zero : {0.0, -0.0}) {
    plan.plan().values.clear();
    plan.real(zero);
    const auto again = decode_program(encode(program));
    ASSERT_TRUE(again);
    const double kept = again->tables.execution_plan.at(0)->values.at(0)->val.AsDouble()->double_val;
    EXPECT_EQ(std::signbit(kept), std::signbit(zero));
  }
}

TEST(Program, PlannedMemoryZeroIsAPlaceholder) {
  constexpr Int largest = std::numeric_limits<Int>::max();
  Program program;
  PlanBuilder plan(*program.tables.execution_plan.emplace_back(std::make_unique<pte::ExecutionPlanT>()));
  plan.plan().name = "forward";
  plan.plan().chains.push_back(std::make_unique<pte::ChainT>());
  for (const Int nothing : {Int{-1}, -largest - 1, largest}) {
    plan.plan().non_const_buffer_sizes = {nothing, largest - 1, 1};
    const inspect::CheckReport report = inspect::check(in_memory(encode(program)));
    EXPECT_TRUE(report.faults.empty());
    ASSERT_EQ(report.methods.size(), 1u);
    EXPECT_EQ(report.methods.first[0].planned, largest);
  }
}

// A value of an argument's type.
PlanBuilder::Index some_value(PlanBuilder& plan, std::string_view type) {
  if (type.ends_with('?')) return plan.none();
  if (type == "Tensor") return plan.tensor(DType::float32, {2});
  if (type == "Tensor[]") return plan.list<pte::TensorListT>(std::vector{plan.tensor(DType::float32, {2})});
  if (type == "Tensor?[]") return plan.list<pte::OptionalTensorListT>(std::vector{-1});
  if (type == "int[]") return plan.integers({1});
  if (type == "bool[]") return plan.list<pte::BoolListT>(std::vector{true});
  if (type == "float[]") return plan.list<pte::DoubleListT>(std::vector{0.5});
  if (type == "bool") return plan.boolean(true);
  if (type == "float") return plan.real(0.5);
  if (type == "str") return plan.string("none");
  return plan.integer(1);
}

std::set<std::string> rules_broken_by(const ProgramBuilder& program) {
  std::set<std::string> rules;
  for (const Fault& f : faults_of(*open_program(in_memory(program.bytes())))) rules.insert(f.rule);
  return rules;
}

// Default values and returned values are at the positions that rules I9 and I10 require.
TEST(PlanBuilder, CallsEachOperatorByTheNamesOfItsArguments) {
  for (const Operator& op : operator_table()) {
    ProgramBuilder program;
    PlanBuilder plan = program.method();
    std::vector<PlanBuilder::Operand> operands;
    for (const SchemaArgument& a : op.arguments.first(op.arguments.size() - op.mutated()))
      if (a.default_text.empty()) operands.push_back({a.name, some_value(plan, a.type)});
    plan.call_named(op.name, operands);
    const auto broken = rules_broken_by(program);
    EXPECT_FALSE(broken.contains("I9") || broken.contains("I10")) << op.schema;
    plan.call(op.name, {});
    EXPECT_TRUE(rules_broken_by(program).contains("I9")) << op.schema;
  }
}

TEST(PlanBuilder, RefusesNamesThatTheSchemaDoesNotHave) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.tensor(DType::float32, {2});
  const auto rule_of = [&](std::string_view op, const std::vector<PlanBuilder::Operand>& operands) {
    const Refusal refused = refusal_of([&] { plan.call_named(op, operands); });
    return refused ? refused->rule : "";
  };
  EXPECT_EQ(rule_of("aten::relu.out", {{"self", x}, {"out", x}}), "");
  EXPECT_EQ(rule_of("aten::relu.out", {{"self", x}}), "I9");
  EXPECT_EQ(rule_of("aten::relu.out", {{"self", x}, {"other", x}, {"out", x}}), "I9");
  EXPECT_EQ(rule_of("mine::relu.out", {{"self", x}, {"out", x}}), "I4");
}

TEST(PlanBuilder, PlansMemoryBeyond32Bits) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = plan.planned(DType::float32, {4}, 2, std::uint64_t{5} << 32);
  EXPECT_EQ(plan.at(x).allocation_info->memory_offset_high, 5u);
  EXPECT_THAT(plan.plan().non_const_buffer_sizes, testing::ElementsAre(0, 0, (Int{5} << 32) + 16));
}

TEST(Program, AlignmentMovesSegmentsOnly) {
  EXPECT_TRUE(*decode_program(encode(corrupt::Sample().program, 16)) ==
              *decode_program(encode(corrupt::Sample().program, 4096)));
}

TEST(Program, TheIdentifierTellsTheKind) {
  EXPECT_EQ(file_kind(encode(corrupt::Sample().program)), &format::program_kind);
  EXPECT_EQ(file_kind(encode(corrupt::Sample().data)), &format::data_kind);
  EXPECT_EQ(file_kind(corrupt::Sample().encoded_bundle()), &format::bundle_kind);
  EXPECT_EQ(file_kind(corrupt::Delegated().payload_bytes()), &format::xnnpack_kind);
  EXPECT_EQ(file_kind(encode_tables(corrupt::Delegated().graph())), &format::xnnpack_kind);
  EXPECT_EQ(file_kind({}), nullptr);
}

TEST(FileKinds, EachRowIsCheckedAndDescribed) {
  std::set<std::string_view> kinds;
  for (const corrupt::CompleteFile& complete : corrupt::complete_files()) {
    EXPECT_EQ(file_kind(complete.file), complete.kind);
    const Budget budget;
    const inspect::Opened opened(in_memory(complete.file), {}, budget);
    const inspect::Described described = opened.described();
    EXPECT_EQ(&described.kind, complete.kind);
    EXPECT_TRUE(described.faults.empty());
    EXPECT_NO_THROW(inspect::content_writers(described.kind)) << described.kind.noun;
    kinds.insert(complete.kind->name);
  }
  EXPECT_EQ(kinds.size(), format::file_kinds().size()) << "complete_files() lacks a kind";
}

TEST(Program, DataAreFoundByIndexAndByName) {
  corrupt::Sample s;
  const auto file = open_program(in_memory(encode(s.program)));
  ASSERT_TRUE(file);
  const auto same = [](std::optional<std::span<const std::byte>> found, const Bytes& wanted) {
    return found && std::ranges::equal(found->first(std::min(found->size(), wanted.size())), wanted);
  };
  EXPECT_TRUE(same(constant_data(file->view(), 1), corrupt::numbers({1, 2, 3, 4})));
  EXPECT_FALSE(constant_data(file->view(), 2));
  EXPECT_TRUE(same(initial_data(file->view(), 1), corrupt::numbers({5, 6})));
  EXPECT_FALSE(initial_data(file->view(), 2));
  EXPECT_EQ(payload(file->view(), *file->tables().execution_plan()->Get(0)->delegates()->Get(0)).size(), 3u);
  EXPECT_EQ(payload(file->view(), *file->tables().execution_plan()->Get(0)->delegates()->Get(1)).size(), 5u);

  const auto valid = validate(*file, {*open_data(in_memory(encode(s.data)))});
  ASSERT_TRUE(valid);
  EXPECT_TRUE(same(valid->named("payload")->bytes, Bytes(3)));
  EXPECT_EQ(valid->named("payload")->layout, nullptr);
  EXPECT_TRUE(same(valid->named("weight")->bytes, corrupt::numbers({7, 8})));
  EXPECT_NE(valid->named("weight")->layout, nullptr);
  EXPECT_FALSE(valid->named("weights"));
  EXPECT_EQ(valid->plan("second"), file->tables().execution_plan()->Get(1));
  EXPECT_EQ(valid->plan("third"), nullptr);
}

TEST(Program, AnOpenFileKeepsItsBytesAlive) {
  auto bundle = open_bundle(in_memory(corrupt::Sample().encoded_bundle()));
  auto program = open_program(program_of(*bundle));
  auto valid = validate(*program);
  bundle.value.reset(), program.value.reset();
  EXPECT_EQ((*valid)->view().segment_count(), 4u);
  EXPECT_EQ((*valid)->segment(3).size(), 3u);
  EXPECT_NE(valid->plan("forward"), nullptr);
}

TEST(Program, TablesAreReadFromACopy) {
  Bytes bytes = encode(corrupt::Sample().program);
  const auto file = open_program(borrowed(bytes));
  const auto* segments = bytes.data() + bytes.size() - 3;
  EXPECT_EQ(file->segment(3).data(), segments);
  std::ranges::fill(bytes, std::byte{0xff});
  EXPECT_EQ(faults_of(*file).size(), 0u);
}

class RecordedProgram : public testing::TestWithParam<fs::path> {};

TEST_P(RecordedProgram, MeetsEveryRuleAndIsEqualAfterEncoding) {
  std::vector<NamedDataFile> data;
  for (const auto& entry : fs::directory_iterator(GetParam()))
    if (entry.path().extension() == ".ptd") {
      const File file = files::open_file(entry.path());
      expect_the_same_again(file.bytes, decode_data_file);
      data.push_back(*open_data(file));
      EXPECT_TRUE(faults_of(data.back()).empty()) << faults_of(data.back())[0].message;
    }
  const File file = files::open_file(GetParam() / "program.pte");
  expect_the_same_again(file.bytes, decode_program);
  for (const Fault& f : faults_of(*open_program(file), data))
    ADD_FAILURE() << f.rule << " [" << f.place << "] " << f.message;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedProgram, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace program_test
}  // namespace assay
