#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/cases/case.h"
#include "conformance/runner/run_case.h"
#include "conformance/testees/optimized_library.h"

// Every recorded call that a kernel of the optimized runtime takes, judged as any testee's answer is.
namespace assay {
namespace {

const Corpus& corpus() {
  static const Corpus all(ASSAY_GOLDEN);
  return all;
}

using Operands = OptimizedLibrary::Operands;
constexpr std::pair<Operands, std::string_view> ways[] = {{Operands::constant, "of constants"},
                                                          {Operands::fixed, "of fixed sizes"},
                                                          {Operands::moving, "of sizes that move"}};

class OptimizedKernelsOf : public testing::TestWithParam<std::string> {};

TEST_P(OptimizedKernelsOf, AgreeWithTheSpecification) {
  const RecordedCalls* calls = corpus().calls(GetParam());
  ASSERT_TRUE(calls) << "nothing is recorded";
  for (const auto& [operands, words] : ways) {
    OptimizedLibrary kernels(operands, false);
    std::optional<Probe> probe;
    std::size_t taken = 0, of_low_quality = 0;
    for (std::size_t i = 0; i < calls->size(); ++i) {
      if (!probe || probe->is_spent()) probe.emplace(kernels);
      const CaseId id{GetParam(), calls->digest(i), {}};
      const Record r = run_case(corpus(), *probe, Contract(), id, true).record;
      if (r.verdict == Verdict::unsupported) continue;
      ++taken, of_low_quality += r.verdict == Verdict::quality;
      EXPECT_TRUE(r.verdict == Verdict::pass || r.verdict == Verdict::quality)
          << r.case_id << ", " << words << ": " << name(r.failure) << ": " << r.message << "\nexpected " << r.expected
          << "\ngot " << r.got << "\nbound " << r.bound;
    }
    fmt::print("{}, {}: {} of {} calls, {} of low quality\n", GetParam(), words, taken, calls->size(), of_low_quality);
    EXPECT_GT(taken, 0u) << "no kernel takes a call";
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, OptimizedKernelsOf, testing::ValuesIn(OptimizedLibrary().kernels()), test_name);

}  // namespace
}  // namespace assay
