// Reading a recording gives the same calls in any order of the recorded calls.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "calls_generated.h"
#include "conformance/cases/case.h"
#include "conformance/cases/fingerprint.h"
#include "reference/fault.h"

namespace assay {
namespace recording_test {

using Bytes = std::vector<std::uint8_t>;

flatbuffers::Offset<golden::Call> abs_call(flatbuffers::FlatBufferBuilder& b, Bytes elements) {
  const std::vector<std::int32_t> sizes{static_cast<std::int32_t>(elements.size())};
  const std::vector<std::uint8_t> order{0};
  const auto tensor = [&](const Bytes* data) { return golden::CreateTensorDirect(b, 0, &sizes, &order, data).Union(); };
  const std::vector arguments{golden::CreateArgument(b, golden::Value::Tensor, tensor(&elements)),
                              golden::CreateArgument(b, golden::Value::Tensor, tensor(nullptr))};
  const std::vector results{golden::CreateTensorDirect(b, 0, &sizes, &order, &elements)};
  return golden::CreateCallDirect(b, &arguments, &results);
}

// A folder with one recording of aten::abs.out: calls with these uint8 elements.
class Recording : public testing::Test {
 protected:
  cases::Corpus recorded(const std::vector<Bytes>& calls) {
    flatbuffers::FlatBufferBuilder b;
    std::vector<flatbuffers::Offset<golden::Call>> all;
    for (const Bytes& elements : calls) all.push_back(abs_call(b, elements));
    const std::string schema(find_operator("aten::abs.out")->schema);
    golden::FinishCallsBuffer(b, golden::CreateCallsDirect(b, schema.c_str(), &all));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "aten.abs.out.calls", std::ios::binary)
        .write(reinterpret_cast<const char*>(b.GetBufferPointer()), static_cast<std::streamsize>(b.GetSize()));
    return cases::Corpus(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("recording_test." + std::to_string(getpid()));
};

TEST_F(Recording, TheIdOfACallDoesNotDependOnItsPosition) {
  const auto ids = [&](const std::vector<Bytes>& calls) {
    const cases::Corpus corpus = recorded(calls);
    std::vector<std::uint32_t> digests;
    for (std::size_t i = 0; i < calls.size(); ++i) digests.push_back(corpus.calls("aten::abs.out")->digest(i));
    return digests;
  };
  const std::vector<std::uint32_t> one = ids({{1, 2}, {3}, {}}), other = ids({{}, {3}, {1, 2}});
  EXPECT_EQ(one, other);
  EXPECT_TRUE(std::ranges::is_sorted(one));
  const cases::Corpus corpus = recorded({{9}, {1, 2}, {3}, {}});
  for (std::uint32_t digest : one) EXPECT_NO_THROW(corpus.make({"aten::abs.out", digest, {}}));
}

TEST_F(Recording, ACallThatWasRecordedTwiceIsOneCase) {
  EXPECT_EQ(recorded({{1, 2}, {3}, {1, 2}}).calls("aten::abs.out")->size(), 2u);
}

TEST_F(Recording, AnUnknownDigestIsRefused) {
  const cases::Corpus corpus = recorded({{1}});
  const std::uint32_t known = corpus.calls("aten::abs.out")->digest(0);
  EXPECT_EQ(std::get<Tensor>(corpus.make({"aten::abs.out", known, {}}).arguments[0]).bytes[0], std::byte{1});
  EXPECT_THROW(corpus.make({"aten::abs.out", known + 1, {}}), Fault);
}

TEST_F(Recording, OnlyFilesOfMatchingOperatorsAreRead) {
  static_cast<void>(recorded({{1}}));
  std::ofstream(folder_ / "aten.sin.out.calls") << "damaged";
  for (const std::string_view pattern : {"aten::abs.out", "abs", "a*s.out,cos"}) {
    const cases::Corpus corpus(folder_, pattern);
    EXPECT_NE(corpus.calls("aten::abs.out"), nullptr) << pattern;
    EXPECT_EQ(corpus.calls("aten::sin.out"), nullptr) << pattern;
  }
  EXPECT_EQ(cases::Corpus(folder_, "abs.in").calls("aten::abs.out"), nullptr);
  EXPECT_THROW(cases::Corpus(folder_, "abs,sin"), Fault);
  EXPECT_THROW(cases::Corpus{folder_}, Fault);
}

TEST(Fingerprint, HasAllThatDistinguishesCalls) {
  const Operator& op = *find_operator("aten::add.out");
  const auto of = [&](Tensor self, Value alpha, Tensor out) {
    return cases::fingerprint(op, std::vector<Value>{self, make(DType::float32, {1}), alpha, out});
  };
  const Tensor one = make(DType::float32, {1});
  const std::string base = of(one, Int{1}, one);
  EXPECT_NE(base, of(make(DType::int32, {1}), Int{1}, one));
  EXPECT_NE(base, of(make(DType::float32, {1, 1}), Int{1}, one));
  EXPECT_NE(base, of(one, Int{2}, one));
  EXPECT_NE(base, of(one, 1.0, one));
  EXPECT_NE(base, of(one, true, one));
  EXPECT_NE(base, of(one, Int{1}, make(DType::float64, {1})));
  EXPECT_EQ(base, of(one, Int{1}, make(DType::float32, {7})));
}

TEST(Case, AnIdReadsBackFromItsText) {
  const cases::CaseId id{"aten::add.out", 0x00c35be8, {{cases::Mutation::Kind::dtype, {0, 5, 0}}}};
  EXPECT_EQ(cases::to_text(id), "aten::add.out#00c35be8~dtype:0:5:0");
  EXPECT_EQ(cases::case_id_from(cases::to_text(id)), id);
  for (const char* wrong : {"", "#00c35be8", "aten::add.out", "aten::add.out#17", "aten::add.out#000c35be8",
                            "aten::add.out#0xc35be8", "aten::add.out#00c35be8~", "aten::add.out#00c35be8~dtype:0"})
    EXPECT_THROW(cases::case_id_from(wrong), Fault) << wrong;
}

}  // namespace recording_test
}  // namespace assay
