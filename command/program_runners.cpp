#include "command/program_runners.h"

#include "command/libraries.h"
#include "conformance/contract/read_contract.h"
#include "conformance/hosts/testee_host.h"

namespace assay {

ProgramRunners::ProgramRunners(const std::string& testee, const std::string& golden, std::chrono::seconds timeout)
    : testee_(testee) {
  if (testee == "reference") return;
  if (testee != "recorded") runtime_ = open_runtime(testee);
  if (!runtime_) open_ = open_library(testee, golden);
  time_limit_ = time_limit_of(timeout, runtime_ ? runtime_->is_remote() : open_.library->is_remote());
  if (runtime_) return;
  children_.emplace(*open_.library, time_limit_);
}

std::unique_ptr<ProgramRunner> ProgramRunners::begin(const ProgramFiles& program, const RuntimeOptions& options,
                                                     Listener* listener) {
  if (runtime_)
    return std::make_unique<TesteeHost>(program.program, options.budget, *runtime_,
                                        LoadSettings{program.file, program.data, options.share_arenas,
                                                     program.packed_cache, options.instructions, options.budget},
                                        time_limit_);
  if (children_) return std::make_unique<LibraryHost>(program.program, options, listener, *children_, substituted_);
  return std::make_unique<Host>(program.program, options, listener);
}

std::unique_ptr<ProgramRunner> ProgramRunners::begin_judge(const ProgramFiles& program, const RuntimeOptions& options) {
  const ArithmeticMode arithmetic = contract_of(testee_).arithmetic;
  return std::make_unique<JudgedHost>(program.program, options, *children_, arithmetic, wrong_);
}

}  // namespace assay
