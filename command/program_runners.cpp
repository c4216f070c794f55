#include "command/program_runners.h"

#include "command/libraries.h"
#include "conformance/contract/read_contract.h"
#include "conformance/hosts/testee_host.h"
#include "conformance/scenarios/stage.h"
#include "conformance/text/fault_text.h"

namespace assay::command {

ProgramRunners::ProgramRunners(const std::string& testee, const std::string& golden, std::chrono::seconds timeout)
    : testee_(testee) {
  if (testee == "reference") return;
  if (testee != "recorded") runtime_ = open_runtime(testee);
  if (!runtime_) open_ = open_library(testee, golden);
  time_limit_ = sandbox::time_limit_of(timeout, runtime_ ? runtime_->is_remote() : open_.library->is_remote());
  if (runtime_) return;
  children_.emplace(*open_.library, time_limit_);
}

std::unique_ptr<hosts::ProgramRunner> ProgramRunners::begin(const ProgramFiles& program, const RuntimeOptions& options,
                                                            hosts::Tracer* tracer) {
  if (runtime_)
    return std::make_unique<hosts::TesteeHost>(program.program, options.budget, *runtime_,
                                               testee::LoadSettings{.program = program.file,
                                                                    .data = program.data,
                                                                    .share_arenas = options.share_arenas,
                                                                    .traces = tracer != nullptr,
                                                                    .packed_cache = program.packed_cache,
                                                                    .instructions = options.instructions,
                                                                    .budget = options.budget},
                                               time_limit_,
                                               [tracer](const hosts::TracedStep& step) { tracer->tell(step); });
  if (children_)
    return std::make_unique<hosts::LibraryHost>(program.program, options, tracer, *children_, substituted_);
  return std::make_unique<hosts::Host>(program.program, options, tracer);
}

std::unique_ptr<hosts::ProgramRunner> ProgramRunners::begin_judge(const ProgramFiles& program,
                                                                  const RuntimeOptions& options) {
  const judge::ArithmeticMode arithmetic = contract::contract_of(testee_).arithmetic;
  return std::make_unique<hosts::JudgedHost>(program.program, options, *children_, arithmetic, wrong_);
}

namespace {

// The cases of the delegates that the last of these calls makes.
delegates::Pieces pieces_of_last(const ProgramFiles& program, std::span<const hosts::ProgramCall> calls) {
  hosts::ProgramCalls all;
  all.data = program.data, all.calls.assign(calls.begin(), calls.end());
  delegates::Pieces pieces =
      delegates::pieces_of(scenarios::recorded_program("run", program.file, program.program, std::move(all)));
  const std::string last = concat("run/", calls.size() - 1, '/');
  std::erase_if(pieces, [&](const auto& piece) { return !piece->id.starts_with(last); });
  return pieces;
}

}  // namespace

void ProgramRunners::judge_delegates(const ProgramFiles& program, std::span<const hosts::ProgramCall> calls) {
  if (!runtime_ || wrong_delegate_) return;
  delegates::Pieces pieces;
  try {
    pieces = pieces_of_last(program, calls);
  } catch (const Fault& fault) {
    no_wrong_delegate_ = concat("delegates not judged: ", text::sentence(fault));
    return;
  }
  if (pieces.empty()) return;
  std::vector<scenarios::Scenario> scenarios;
  for (const auto& piece : pieces) scenarios.push_back(delegates::scenario(piece));
  scenarios::Stage stage(std::move(scenarios), *runtime_, time_limit_);
  delegates::Findings findings(pieces);
  std::size_t passed = 0;
  stage.judge(stage.blocks(), [&](const verdict::Record& record) {
    passed += record.verdict == verdict::Verdict::pass;
    findings.add(record);
  });
  wrong_delegate_ = findings.first_wrong();
  no_wrong_delegate_ = concat("no wrong delegate was found: ", passed, " of ", pieces.size(), " cases pass");
}

}  // namespace assay::command
