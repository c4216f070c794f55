#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "conformance/programs/calls.h"
#include "conformance/programs/file.h"
#include "conformance/programs/host.h"
#include "conformance/testees/optimized/client.h"
#include "tests/program_folders.h"

// What rewrites change is no more than rounding, with any number of threads.
namespace assay {
namespace {

namespace fs = std::filesystem;

using Results = std::vector<std::vector<Value>>;  // by call

struct Ran {
  Results results;
  std::size_t steps = 0;
};

Ran run(const fs::path& folder, const OptimizedClient::Options& options) {
  const ProgramCalls calls = read_calls(folder / "calls.json");
  const ValidProgram valid = valid_program(open_file(folder / "program.pte"), open_data_files(calls.data));
  OptimizedClient client(folder / "program.pte", calls.data, options);
  Ran ran;
  for (const ProgramCall& call : calls.calls) {
    if (!call.fails.empty()) continue;
    const OptimizedClient::Method& method = client.method(call.method);
    const std::vector<Value> inputs = adapted(*valid.plan(call.method), call.inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) OptimizedClient::set_input(method, i, inputs[i]);
    OptimizedClient::execute(method);
    ran.results.push_back(OptimizedClient::outputs(method));
    ran.steps += assay_step_count(method.method);
  }
  return ran;
}

std::size_t fewer_steps = 0;  // programs that rewrites make shorter

class OptimizedRewrites : public testing::TestWithParam<fs::path> {};

TEST_P(OptimizedRewrites, ChangeNothingButRounding) {
  const ProgramCalls calls = read_calls(GetParam() / "calls.json");
  const Ran written = run(GetParam(), {.as_written = true}), rewritten = run(GetParam(), {});
  fewer_steps += rewritten.steps < written.steps;
  ASSERT_EQ(written.results.size(), rewritten.results.size());
  std::size_t k = 0;
  for (const ProgramCall& call : calls.calls) {
    if (!call.fails.empty()) continue;
    for (std::size_t i = 0; i < written.results[k].size(); ++i) {
      const Comparison c = compare(rewritten.results[k][i], written.results[k][i], call.tolerance);
      EXPECT_TRUE(c.agrees()) << "call " << k << ", output " << i << ": " << sentence(c, call.tolerance);
    }
    ++k;
  }
}

TEST_P(OptimizedRewrites, GiveTheSameOnThreeThreads) {
  const Ran one = run(GetParam(), {}), three = run(GetParam(), {.threads = 3});
  ASSERT_EQ(one.results.size(), three.results.size());
  for (std::size_t k = 0; k < one.results.size(); ++k)
    for (std::size_t i = 0; i < one.results[k].size(); ++i)
      EXPECT_TRUE(compare(three.results[k][i], one.results[k][i], {}).agrees()) << "call " << k << ", output " << i;
}

INSTANTIATE_TEST_SUITE_P(Golden, OptimizedRewrites, testing::ValuesIn(program_folders()), name_of_folder);

class SomePrograms : public testing::Environment {
 public:
  void TearDown() override {
    if (testing::GTEST_FLAG(filter) != "*") return;
    EXPECT_GT(fewer_steps, 20u) << "hardly any program is rewritten";
  }
};
const auto* const some_programs = testing::AddGlobalTestEnvironment(new SomePrograms);

}  // namespace
}  // namespace assay
