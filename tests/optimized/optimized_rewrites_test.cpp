#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "tests/support/program_folders.h"
#include "tests/support/recorded.h"
#include "tests/support/whole_suite.h"

// Rewrites change results by rounding alone.
namespace assay {
namespace optimized_rewrites_test {

namespace fs = std::filesystem;

struct Ran {
  Recorded::Results results;
  std::size_t steps = 0;
};

// Every element of a float32 tensor, every second element of a bool tensor.
void fill(Tensor& tensor, float value) {
  if (tensor.dtype == DType::float32)
    for (std::size_t i = 0; i < tensor.bytes.size(); i += sizeof value)
      std::memcpy(tensor.bytes.data() + i, &value, sizeof value);
  if (tensor.dtype == DType::boolean) std::ranges::fill(tensor.bytes, std::byte{value > 0});
}

// The recorded inputs, or inputs of one value.
Ran run(const fs::path& folder, const adapters::OptimizedClient::Options& options, std::optional<float> filled = {}) {
  const Recorded recorded(folder);
  adapters::OptimizedClient client = recorded.client(options);
  Ran ran;
  ran.results = recorded.run(client, {}, [&](Value& input) {
    if (Tensor* t = std::get_if<Tensor>(&input); t && filled) fill(*t, *filled);
  });
  recorded.each(
      {}, [&](const hosts::ProgramCall& call) { ran.steps += assay_step_count(client.method(call.method).method); });
  return ran;
}

std::size_t fewer_steps = 0;  // programs that rewrites shorten

class OptimizedRewrites : public testing::TestWithParam<fs::path> {
 public:
  static void TearDownTestSuite() {
    if (!whole_suite_ran()) return;
    EXPECT_GT(fewer_steps, 20u) << "hardly any program is rewritten";
  }
};

void expect_agreement(const fs::path& folder, const Ran& rewritten, const Ran& written) {
  const hosts::ProgramCalls calls = hosts::read_calls(folder / "calls.json");
  ASSERT_EQ(written.results.size(), rewritten.results.size());
  std::size_t k = 0;
  for (const hosts::ProgramCall& call : calls.calls) {
    if (!call.fails.empty()) continue;
    for (std::size_t i = 0; i < written.results[k].size(); ++i) {
      const files::Comparison c = files::compare(rewritten.results[k][i], written.results[k][i], call.tolerance);
      EXPECT_TRUE(c.agrees()) << "call " << k << ", output " << i << ": " << files::sentence(c, call.tolerance);
    }
    ++k;
  }
}

TEST_P(OptimizedRewrites, ChangeResultsByRoundingAlone) {
  const Ran written = run(GetParam(), {.as_written = true}), rewritten = run(GetParam(), {});
  fewer_steps += rewritten.steps < written.steps;
  expect_agreement(GetParam(), rewritten, written);
}

// Infinities, NaN and masked elements are not changed by rounding.
TEST_P(OptimizedRewrites, KeepInfinitiesAndMasks) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0.0f, 1.0f}) {
    SCOPED_TRACE(value);
    expect_agreement(GetParam(), run(GetParam(), {}, value), run(GetParam(), {.as_written = true}, value));
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, OptimizedRewrites, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace optimized_rewrites_test
}  // namespace assay
