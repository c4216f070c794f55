#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/programs/calls.h"
#include "conformance/programs/file.h"
#include "conformance/programs/host.h"
#include "conformance/testees/optimized/runtime.h"
#include "tests/program_folders.h"

// Every recorded program on the optimized runtime: what it gives is what the recording says.
namespace assay {
namespace {

namespace fs = std::filesystem;

class OptimizedPrograms : public testing::TestWithParam<fs::path> {};

TEST_P(OptimizedPrograms, GiveWhatWasRecorded) {
  const fs::path folder = GetParam();
  const ProgramCalls calls = read_calls(folder / "calls.json");
  const auto runtime = make_optimized_runtime();
  Reply reply;
  const auto loaded = runtime->load(folder / "program.pte", calls.data, reply);
  ASSERT_TRUE(loaded) << reply.message;
  const ValidProgram program = valid_program(open_file(folder / "program.pte"), open_data_files(calls.data));
  for (std::size_t k = 0; k < calls.calls.size(); ++k) {
    const ProgramCall& call = calls.calls[k];
    std::vector<Value> outputs;
    reply = loaded->call(call.method, adapted(*program.plan(call.method), call.inputs), outputs);
    if (!call.fails.empty()) {
      EXPECT_TRUE(reply.message.starts_with(call.fails)) << reply.message;
      continue;
    }
    ASSERT_EQ(reply.outcome, Outcome::ok) << "call " << k << ": " << reply.message;
    if (!call.outputs) continue;
    ASSERT_EQ(outputs.size(), call.outputs->size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Comparison c = compare(outputs[i], (*call.outputs)[i], call.tolerance);
      EXPECT_TRUE(c.agrees()) << "call " << k << ", output " << i << ": " << sentence(c, call.tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, OptimizedPrograms, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace
}  // namespace assay
