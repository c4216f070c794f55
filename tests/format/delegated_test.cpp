#include <gmock/gmock-matchers.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "conformance/corrupt/delegated.h"
#include "conformance/files/file.h"
#include "conformance/inspect/describe.h"
#include "tests/support/golden.h"

// Programs that an official exporter delegated to XNNPACK, and lints.
namespace assay {
namespace delegated_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::map<std::string, File> recorded() {
  std::map<std::string, File> all;
  for (const auto& entry : fs::directory_iterator(golden_folder() / "delegated"))
    if (entry.is_directory())
      all.emplace(entry.path().filename().string(), files::open_file(entry.path() / "program.pte"));
  return all;
}

std::vector<std::string> texts(const inspect::Some<Fault>& faults) {
  std::vector<std::string> all;
  for (const Fault& f : faults.first) all.push_back(concat(f.rule, ": ", f.place));
  return all;
}

std::string described(const File& file) {
  std::ostringstream stream;
  const Budget budget;
  text::Output out(&stream, budget);
  inspect::write_text(inspect::Opened(file, {}, budget).described(), out);
  return stream.str();
}

TEST(Delegated, RecordedProgramsKeepEveryRule) {
  const auto programs = recorded();
  EXPECT_EQ(programs.size(), 29u);
  for (const auto& [name, file] : programs) {
    const inspect::CheckReport report = inspect::check(file);
    EXPECT_THAT(texts(report.faults), ElementsAre()) << name;
    EXPECT_GT(report.payloads, 0u) << name;
    EXPECT_EQ(report.lints.empty(), name != "int8_weights_only") << name;
  }
}

TEST(Delegated, DroppedScalesAreALint) {
  const inspect::CheckReport report = inspect::check(recorded().at("int8_weights_only"));
  EXPECT_THAT(texts(report.lints), ElementsAre("X43: delegate 0 of forward, node 0, FullyConnected"));
  EXPECT_EQ(report.outcome(), Outcome::ok);
}

TEST(Delegated, AFaultNamesTheDelegateTheNodeAndItsKind) {
  corrupt::Delegated d;
  d.convolution().stride_height = 0;
  const inspect::CheckReport report = inspect::check(in_memory(d.file()));
  EXPECT_THAT(texts(report.faults), ElementsAre("X37: delegate 0 of forward, node 0, Conv2d"));
}

TEST(Delegated, DataThatNoFileHasAreWanted) {
  corrupt::Delegated d;
  d.clear();
  d.x = d.input({2, 3}), d.y = d.output({2, 3});
  const auto weight = d.inner({2, 3});
  d.tensor(weight).constant = d.named("weight", {});
  d.binary(xnn::Operation::Add, d.x, weight, d.y);
  const inspect::CheckReport report = inspect::check(in_memory(d.file()));
  EXPECT_THAT(texts(report.faults), ElementsAre());
  EXPECT_THAT(report.wanted_data.first, ElementsAre("weight"));
}

TEST(Delegated, ADescriptionShowsTheGraph) {
  const auto programs = recorded();
  const std::string linear = described(programs.at("8da4w_linear"));
  EXPECT_THAT(linear, HasSubstr("Convert  input=%"));
  EXPECT_THAT(linear, HasSubstr("qbint4[8,64]"));
  EXPECT_THAT(linear, HasSubstr("group_size=32"));
  EXPECT_THAT(described(programs.at("f32_conv")), HasSubstr("kernel_height=3"));
}

TEST(Delegated, APayloadDecodesToWhatWasEncoded) {
  corrupt::Delegated d;
  d.convolution();
  const auto decoded = decode_xnnpack(d.payload_bytes());
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(*decoded == d.payload);
}

}  // namespace delegated_test
}  // namespace assay
