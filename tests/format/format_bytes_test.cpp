#include <gmock/gmock-matchers.h>

#include <random>

#include "conformance/corrupt/sample.h"

// For any bytes, readers return a value, or faults of known rules.
namespace assay {
namespace format_bytes_test {

using Faults = std::vector<Fault>;

Bytes program_file() { return encode(corrupt::Sample().program); }
Bytes data_file() { return encode(corrupt::Sample().data); }
Bytes bundle_file() { return corrupt::Sample().encoded_bundle(); }

// Reads a file without knowing anything about it.
Faults read(const Bytes& file) {
  const FileKind* kind = file_kind(file);
  return faults_of(borrowed(file), kind ? *kind : format::program_kind);
}

void expect_only_known_outcomes(const Faults& faults) {
  for (const Fault& f : faults) {
    EXPECT_NE(find_format_rule(f.rule), nullptr) << f.rule;
    EXPECT_NE(f.message, "");
  }
}

TEST(AnyBytes, ATruncatedFileIsMalformed) {
  for (const Bytes& whole : {program_file(), data_file(), bundle_file()}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Faults faults = read(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      // The last bytes of the bundle may be padding.
      if (faults.empty() && file_kind(whole) == &format::bundle_kind && size + 32 > whole.size()) continue;
      ASSERT_FALSE(faults.empty()) << size << " of " << whole.size();
      EXPECT_EQ(faults[0].outcome, Outcome::malformed) << size;
    }
  }
}

TEST(AnyBytes, AnyBytesAreAnsweredWithFaultsOfKnownRules) {
  std::mt19937 random(7);
  for (const Bytes& whole : {program_file(), data_file(), bundle_file()})
    for (int i = 0; i < 3000; ++i) {
      Bytes file = whole;
      for (auto changes = 1 + random() % 3; changes > 0; --changes)
        file[random() % file.size()] = static_cast<std::byte>(random());
      expect_only_known_outcomes(read(file));
    }
  for (int i = 0; i < 1000; ++i) {
    Bytes file(random() % 200);
    for (std::byte& b : file) b = static_cast<std::byte>(random());
    const Faults faults = read(file);
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults[0].outcome, Outcome::malformed);
  }
}

TEST(AnyBytes, AFileOfAnotherKindIsNamed) {
  EXPECT_EQ(open_program(in_memory(data_file())).faults.at(0).rule, "H2");
  EXPECT_EQ(open_data(in_memory(bundle_file())).faults.at(0).rule, "F1");
  EXPECT_EQ(open_bundle(in_memory(program_file())).faults.at(0).rule, "B1");
  EXPECT_THAT(open_program(in_memory(data_file())).faults.at(0).message, testing::HasSubstr("FT01"));
}

}  // namespace format_bytes_test
}  // namespace assay
