#include <gmock/gmock-more-matchers.h>

#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <ctime>

#include "conformance/corrupt/sample.h"
#include "format/check.h"
#include "reference/program/memory.h"

// The costs of checks: exactly the workspace that they count, at most twice the tables, and no quadratic time for any
// file.
namespace assay {
namespace format_workspace_test {

using format::Findings;
using format::Workspace;

constexpr std::byte pattern{0xa5};
constexpr std::size_t around = 64;

// The rules that `check` reports in a workspace of `bytes` bytes, between guard bytes that must not change.
template <class Check>
std::string rules_told(Check check, std::size_t bytes) {
  AlignedMemory memory(bytes + 2 * around);
  std::memset(memory.bytes().data(), static_cast<int>(pattern), memory.bytes().size());
  std::string rules;
  Findings findings(
      [](void* told, const format::Finding& f) {
        static_cast<std::string*>(told)->append(f.rule.id).append(" ");
        return true;
      },
      &rules);
  Workspace workspace(memory.bytes().subspan(around, bytes));
  check(workspace, findings);
  EXPECT_EQ(workspace.mark(), 0u) << "what was taken was not given back";
  for (std::size_t i = 0; i < around; ++i) {
    EXPECT_EQ(memory.bytes()[i], pattern);
    EXPECT_EQ(memory.bytes()[around + bytes + i], pattern);
  }
  return rules;
}

template <class Check>
std::uint64_t counted(Check check) {
  Workspace counting;
  Findings none([](void*, const format::Finding& f) { return ADD_FAILURE() << f.rule.id, true; }, nullptr);
  check(counting, none);
  return counting.most();
}

// A workspace is refused unless it has the counted bytes or more.
template <class Check>
void expect_exact(Check check, const std::string& rules) {
  const std::uint64_t needed = counted(check);
  EXPECT_EQ(rules_told(check, needed), rules);
  EXPECT_EQ(rules_told(check, needed + 100), rules);
  for (std::uint64_t less = 0; less < needed; ++less)
    EXPECT_THAT(rules_told(check, less), testing::Not(testing::IsEmpty())) << less;
}

TEST(Workspace, CountsExactlyForAValidFile) {
  const Sample s;
  const auto program = open_program(in_memory(encode(s.program)));
  const auto data = open_data(in_memory(encode(s.data)));
  const auto bundle = open_bundle(in_memory(s.encoded_bundle()));
  expect_exact([&](Workspace& w, Findings& f) { check(program->view(), {&data->view(), 1}, w, f); }, "");
  expect_exact([&](Workspace& w, Findings& f) { check(program->view(), {}, w, f); }, "");
  expect_exact([&](Workspace& w, Findings& f) { check(data->view(), w, f); }, "");
  expect_exact([&](Workspace& w, Findings& f) { check(bundle->view(), program->view(), w, f); }, "");
}

TEST(Workspace, SufficesForAFaultyFile) {
  Sample s;
  s.plan().non_const_buffer_device.push_back(
      std::make_unique<pte::NonConstBufferDeviceT>(*s.plan().non_const_buffer_device[0]));
  const auto program = open_program(in_memory(encode(s.program)));
  expect_exact([&](Workspace& w, Findings& f) { check(program->view(), {}, w, f); }, "M6 ");
}

TEST(Workspace, IsEmptyForAnEmptyProgram) {
  const auto program = open_program(in_memory(encode(Program())));
  EXPECT_EQ(counted([&](Workspace& w, Findings& f) { check(program->view(), {}, w, f); }), 0u);
}

// -- files for which a quadratic check would take forever -------------------------------------------------------------

using flatbuffers::FlatBufferBuilder;

template <class Table>
Bytes finished(FlatBufferBuilder& b, flatbuffers::Offset<Table> root, const char* identifier) {
  b.Finish(root, identifier);
  const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
  return {bytes.begin(), bytes.end()};
}

auto plan(FlatBufferBuilder& b, flatbuffers::Offset<flatbuffers::String> name,
          const std::vector<flatbuffers::Offset<pte::EValue>>& values) {
  const auto none = b.CreateVector(std::vector<std::int32_t>());
  return pte::CreateExecutionPlan(b, name, 0, b.CreateVector(values), none, none,
                                  b.CreateVector(std::vector<flatbuffers::Offset<pte::Chain>>()),
                                  b.CreateVector(std::vector<flatbuffers::Offset<pte::Operator>>()), 0,
                                  b.CreateVector(std::vector<std::int64_t>{0}));
}

// Its methods differ only in their names.
Bytes program_of_methods(int many) {
  FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<pte::ExecutionPlan>> plans;
  for (int i = 0; i < many; ++i) plans.push_back(plan(b, b.CreateString(std::to_string(i)), {}));
  return finished(b, pte::CreateProgram(b, 0, b.CreateVector(plans)), pte::ProgramIdentifier());
}
// Three of four suites belong to methods that the program does not have.
Bytes bundle_of_suites(int many) {
  const Bytes program = program_of_methods(many / 4);
  FlatBufferBuilder b;
  const auto cases = b.CreateVector(std::vector<flatbuffers::Offset<bpte::BundledMethodTestCase>>());
  std::vector<flatbuffers::Offset<bpte::BundledMethodTestSuite>> suites;
  for (int i = 0; i < many; ++i)
    suites.push_back(bpte::CreateBundledMethodTestSuite(b, b.CreateString(std::to_string(i)), cases));
  b.ForceVectorAlignment(program.size(), 1, 32);
  const auto bytes = b.CreateVector(reinterpret_cast<const std::uint8_t*>(program.data()), program.size());
  return finished(b, bpte::CreateBundledProgram(b, 0, b.CreateVector(suites), bytes), bpte::BundledProgramIdentifier());
}

// External tensors with distinct keys.
Bytes program_of_externals(int many) {
  FlatBufferBuilder b;
  const auto sizes = b.CreateVector(std::vector<std::int32_t>());
  const auto order = b.CreateVector(std::vector<std::uint8_t>());
  std::vector<flatbuffers::Offset<pte::EValue>> values;
  std::vector<flatbuffers::Offset<pte::NamedData>> named;
  for (int i = 0; i < many; ++i) {
    const auto name = b.CreateString("tensor " + std::to_string(i));
    const auto extra = pte::CreateExtraTensorInfo(b, 0, name, pte::TensorDataLocation::EXTERNAL);
    const auto tensor =
        pte::CreateTensor(b, 6, 0, sizes, order, false, 0, 0, 0, pte::TensorShapeDynamism::STATIC, extra);
    values.push_back(pte::CreateEValue(b, pte::KernelTypes::Tensor, tensor.Union()));
    named.push_back(pte::CreateNamedData(b, name, 0));
  }
  const auto all = plan(b, b.CreateString("forward"), values);
  const auto plans = b.CreateVector(std::vector{all});
  const auto segment = pte::CreateDataSegment(b);
  return finished(
      b, pte::CreateProgram(b, 0, plans, 0, 0, b.CreateVector(std::vector{segment}), 0, 0, b.CreateVector(named)),
      pte::ProgramIdentifier());
}

// `many` tensors and `more` further values, which all refer to the last tensor and take 4 bytes each.
Bytes program_of_shared(int many, int more) {
  FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<pte::EValue>> values;
  for (int i = 0; i < many; ++i) {
    const auto sizes = b.CreateVector(std::vector<std::int32_t>());
    const auto order = b.CreateVector(std::vector<std::uint8_t>());
    const auto tensor = pte::CreateTensor(b, 6, 0, sizes, order);
    values.push_back(pte::CreateEValue(b, pte::KernelTypes::Tensor, tensor.Union()));
  }
  values.insert(values.end(), static_cast<std::size_t>(more), values.back());
  const auto plans = b.CreateVector(std::vector{plan(b, b.CreateString("forward"), values)});
  return finished(b, pte::CreateProgram(b, 0, plans), pte::ProgramIdentifier());
}

// The program of `many` tensors with the most shared values that is still opened.
Bytes program_of_most_shared(int many) {
  int more = 0;
  for (int step = 4 * many; step > 0; step /= 2)
    if (open_program(in_memory(program_of_shared(many, more + step)))) more += step;
  EXPECT_GT(more, many / 4);
  EXPECT_EQ(open_program(in_memory(program_of_shared(many, more + 1))).faults.at(0).rule, "H15");
  return program_of_shared(many, more);
}

TEST(Workspace, IsAtMostTwiceTheTables) {
  for (const Bytes& file : {program_of_methods(1000), program_of_externals(1000), program_of_most_shared(5000)}) {
    const auto program = open_program(borrowed(file));
    EXPECT_LE(counted([&](Workspace& w, Findings& f) { check(program->view(), {}, w, f); }), 2 * file.size());
  }
}

void check_program(const Bytes& file) {
  const auto faults = faults_of(*open_program(borrowed(file)));
  EXPECT_EQ(faults.size(), 100u);
  EXPECT_THAT(faults.at(0).rule, testing::AnyOf("I5", "T21"));  // no chain; no bytes under the name
}

void check_bundle(const Bytes& file) {
  const auto bundle = open_bundle(borrowed(file));
  const auto program = open_program(program_of(*bundle));
  const auto check = [&](Workspace& w, Findings& f) { format::check(bundle->view(), program->view(), w, f); };
  EXPECT_EQ(rules_told(check, counted(check)).substr(0, 6), "B3 B3 ");
}

// The smallest CPU time of several runs, in seconds.
double time_of(void (*check)(const Bytes&), const Bytes& file) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    const std::clock_t begin = std::clock();
    check(file);
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

// Eight times the size takes some ten times as long; quadratic time would take 64 times as long.
TEST(Checks, TakeLessThanQuadraticTime) {
  constexpr int some = 3000, most = 30;
  EXPECT_LT(time_of(check_program, program_of_methods(8 * some)),
            most * time_of(check_program, program_of_methods(some)));
  EXPECT_LT(time_of(check_program, program_of_externals(8 * some)),
            most * time_of(check_program, program_of_externals(some)));
  EXPECT_LT(time_of(check_bundle, bundle_of_suites(8 * some)), most * time_of(check_bundle, bundle_of_suites(some)));
}

}  // namespace format_workspace_test
}  // namespace assay
