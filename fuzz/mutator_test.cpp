#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/files/file.h"
#include "fuzz/mutator/file_mutator.h"
#include "fuzz/mutator/tree.h"
#include "program_bfbs_generated.h"
#include "reference/program/decoded.h"

// Mutated files are worth running: most decode, many are valid, and few are unchanged.
namespace assay::fuzz {
namespace {

std::vector<std::string> small_programs() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_GOLDEN_PROGRAMS)) {
    if (!entry.is_directory()) continue;
    const File file = files::open_file(entry.path() / "program.pte");
    if (file.bytes.size() < 20'000) all.emplace_back(files::characters(file));
  }
  return all;
}

auto bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Tree, IsTheSameTablesAgain) {
  const auto& schema = *reflection::GetSchema(pte::ProgramBinarySchema::data());
  for (const std::string& program : small_programs()) {
    const auto decoded = decode_program(bytes_of(program));
    ASSERT_TRUE(decoded);
    flatbuffers::FlatBufferBuilder before, after;
    before.Finish(pte::Program::Pack(before, &decoded->tables));
    write(schema, read(schema, *flatbuffers::GetRoot<flatbuffers::Table>(before.GetBufferPointer())), after);
    pte::ProgramT again;
    flatbuffers::GetRoot<pte::Program>(after.GetBufferPointer())->UnPackTo(&again);
    EXPECT_EQ(encode(Program{again, decoded->segments}), encode(*decoded));
  }
}

TEST(FileMutator, MakesFilesThatAreMostlyValid) {
  const std::vector<std::string> programs = small_programs();
  Random random(1);
  constexpr int tries = 400;
  int same = 0, decoded = 0, valid = 0;
  for (int i = 0; i < tries; ++i) {
    const std::string& before = random.of(programs);
    std::string program = before;
    mutate_file(program, random.of(programs), random);
    same += program == before;
    auto opened = open_program(borrowed(bytes_of(program)));
    decoded += static_cast<bool>(opened);
    valid += opened && validate(std::move(*opened));
  }
  EXPECT_LT(same, tries / 10);
  EXPECT_GT(decoded, tries * 3 / 4);
  EXPECT_GT(valid, tries / 4);
  EXPECT_LT(valid, tries * 3 / 4);
}

}  // namespace
}  // namespace assay::fuzz
