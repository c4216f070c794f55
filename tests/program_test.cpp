#include <gmock/gmock.h>

#include <filesystem>

#include "conformance/programs/file.h"
#include "tests/program_folders.h"
#include "tests/programs.h"

// Decoding and encoding lose nothing, and what the official exporter writes keeps every rule.
namespace assay {
namespace {

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

TEST(Program, SurvivesEncoding) {
  for (const std::size_t alignment : {16u, 128u, 4096u})
    expect_the_same_again(encode(Sample().program, alignment), decode_program);
}
TEST(DataFile, SurvivesEncoding) { expect_the_same_again(encode(Sample().data), decode_data_file); }
TEST(BundledProgram, SurvivesEncoding) {
  expect_the_same_again(Sample().encoded_bundle(), decode_bundle);
  EXPECT_TRUE(decode_program(std::as_bytes(std::span(decode_bundle(Sample().encoded_bundle())->program))));
}

TEST(Program, AlignmentMovesSegmentsOnly) {
  EXPECT_TRUE(*decode_program(encode(Sample().program, 16)) == *decode_program(encode(Sample().program, 4096)));
}

TEST(Program, FilesAreToldByTheirIdentifier) {
  EXPECT_EQ(file_kind(encode(Sample().program)), FileKind::program);
  EXPECT_EQ(file_kind(encode(Sample().data)), FileKind::data);
  EXPECT_EQ(file_kind(Sample().encoded_bundle()), FileKind::bundle);
  EXPECT_EQ(file_kind({}), FileKind::unknown);
}

TEST(Program, DataAreFoundByIndexAndByName) {
  const Sample s;
  const Program& p = s.program;
  const auto same = [](std::optional<std::span<const std::byte>> found, const Bytes& wanted) {
    return found && std::ranges::equal(*found, wanted);
  };
  EXPECT_TRUE(same(constant_data(p, 1), numbers({1, 2, 3, 4})));
  EXPECT_FALSE(constant_data(p, 2));
  EXPECT_TRUE(same(initial_data(p, 1), numbers({5, 6})));
  EXPECT_FALSE(initial_data(p, 2));
  EXPECT_TRUE(same(named_data(p, "payload"), Bytes(3)));
  EXPECT_FALSE(named_data(p, "weight"));
  ASSERT_NE(find_named(s.data, "blob"), nullptr);
  EXPECT_EQ(find_named(s.data, "blob")->segment_index, 2u);
  EXPECT_EQ(find_named(s.data, "payload"), nullptr);
  const auto valid = validate(Sample().program);
  ASSERT_TRUE(valid);
  EXPECT_EQ(valid->plan("second"), (*valid)->tables.execution_plan[1].get());
  EXPECT_EQ(valid->plan("third"), nullptr);
}

class RecordedProgram : public testing::TestWithParam<fs::path> {};

TEST_P(RecordedProgram, KeepsEveryRuleAndSurvivesEncoding) {
  std::vector<DataFile> data;
  for (const auto& entry : fs::directory_iterator(GetParam()))
    if (entry.path().extension() == ".ptd") {
      const Bytes file = read_file(entry.path());
      expect_the_same_again(file, decode_data_file);
      data.push_back(std::move(*decode_data_file(file)));
      EXPECT_TRUE(faults_of(data.back()).empty()) << faults_of(data.back())[0].message;
    }
  const Bytes file = read_file(GetParam() / "program.pte");
  expect_the_same_again(file, decode_program);
  for (const Fault& f : faults_of(*decode_program(file), data))
    ADD_FAILURE() << f.rule << " [" << f.place << "] " << f.message;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedProgram, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace
}  // namespace assay
