#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/adapters/optimized/runtime.h"
#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"
#include "conformance/hosts/host.h"
#include "optimized/kernels/instruction_set.h"
#include "tests/support/program_folders.h"

// Runs every recorded program on the optimized runtime with each instruction set; the results are the recorded ones.
namespace assay {
namespace optimized_programs_test {

namespace fs = std::filesystem;

class OptimizedPrograms : public testing::TestWithParam<std::tuple<fs::path, kernels::InstructionSet>> {};

TEST_P(OptimizedPrograms, GiveTheRecordedResults) {
  const auto& [folder, set] = GetParam();
  if (!kernels::is_supported(set)) GTEST_SKIP() << "this machine does not have " << kernels::traits(set).name;
  const hosts::ProgramCalls calls = hosts::read_calls(folder / "calls.json");
  const auto runtime = adapters::make_optimized_runtime({kernels::traits(set).name});
  testee::Reply reply;
  const auto loaded = runtime->load({folder / "program.pte", calls.data}, reply);
  ASSERT_TRUE(loaded) << reply.message;
  const ValidProgram program =
      hosts::valid_program(files::open_file(folder / "program.pte"), files::open_data_files(calls.data));
  for (std::size_t k = 0; k < calls.calls.size(); ++k) {
    const hosts::ProgramCall& call = calls.calls[k];
    std::vector<Value> outputs;
    reply = loaded->call(call.method, hosts::adapted(*program.plan(call.method), call.inputs), outputs);
    if (!call.fails.empty()) {
      EXPECT_TRUE(reply.message.starts_with(call.fails)) << reply.message;
      continue;
    }
    ASSERT_EQ(reply.outcome, Outcome::ok) << "call " << k << ": " << reply.message;
    if (!call.outputs) continue;
    ASSERT_EQ(outputs.size(), call.outputs->size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const files::Comparison c = files::compare(outputs[i], (*call.outputs)[i], call.tolerance);
      EXPECT_TRUE(c.agrees()) << "call " << k << ", output " << i << ": " << files::sentence(c, call.tolerance);
    }
  }
}

std::vector<kernels::InstructionSet> compiled_sets() {
  std::vector<kernels::InstructionSet> all;
  for (std::size_t i = 0; i < std::size(kernels::instruction_sets); ++i)
    if (const auto set = static_cast<kernels::InstructionSet>(i); kernels::is_compiled(set)) all.push_back(set);
  return all;
}

std::string name_of_program(const testing::TestParamInfo<OptimizedPrograms::ParamType>& tested) {
  const auto& [folder, set] = tested.param;
  return folder.filename().string() + "_" + kernels::traits(set).name;
}

INSTANTIATE_TEST_SUITE_P(Golden, OptimizedPrograms,
                         testing::Combine(testing::ValuesIn(program_folders()), testing::ValuesIn(compiled_sets())),
                         name_of_program);

}  // namespace optimized_programs_test
}  // namespace assay
