#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/libraries.h"
#include "conformance/cases/case.h"
#include "conformance/delegates/defects.h"
#include "conformance/files/file.h"
#include "conformance/hosts/library_host.h"
#include "conformance/hosts/trace.h"
#include "conformance/testee/runtime.h"

namespace assay::command {

// A program, and its files, which a runtime under test reads itself.
struct ProgramFiles {
  ValidProgram program;
  std::filesystem::path file;
  std::vector<std::filesystem::path> data;
  std::filesystem::path packed_cache = {};  // a folder that keeps packed constants; may be empty
};

// A testee that runs programs: the reference, a runtime, or a library of kernels on the reference's machine.
class ProgramRunners {
 public:
  // `golden` is the folder of recorded calls, for the testee "recorded". `timeout` is the time limit of a call. Throws
  // Fault, as open_library does.
  ProgramRunners(const std::string& testee, const std::string& golden, std::chrono::seconds timeout);

  const std::string& testee() const { return testee_; }
  bool is_reference() const { return !is_runtime() && !is_library(); }
  bool is_runtime() const { return runtime_ != nullptr; }
  bool is_library() const { return open_.library != nullptr; }
  bool charges_memory() const { return !is_runtime() || runtime_->charges_memory(); }

  bool traces() const { return !is_runtime() || runtime_->traces(); }

  // Makes a runner with initial state. It reports each instruction to the tracer, which may be null. A runtime reports
  // the instructions that it tells of.
  std::unique_ptr<hosts::ProgramRunner> begin(const ProgramFiles& program, const RuntimeOptions& options,
                                              hosts::Tracer* tracer);

  // The reference, which notes the first instruction where this library is wrong.
  std::unique_ptr<hosts::ProgramRunner> begin_judge(const ProgramFiles& program, const RuntimeOptions& options);

  // Judges the XNNPACK delegates that the last of these calls of the program makes, as `assay delegate` does, and notes
  // the first wrong one. Does nothing if the testee is no runtime, or if a wrong one is known. The calls must have
  // methods.
  void judge_delegates(const ProgramFiles& program, std::span<const hosts::ProgramCall> calls);

  const hosts::Substituted& substituted() const { return substituted_; }
  const std::optional<hosts::WrongInstruction>& wrong() const { return wrong_; }
  const std::optional<delegates::WrongPiece>& wrong_delegate() const { return wrong_delegate_; }
  // What the last judge_delegates() found if it found no wrong delegate; empty if nothing was judged.
  const std::string& no_wrong_delegate() const { return no_wrong_delegate_; }

 private:
  std::string testee_;
  sandbox::TimeLimit time_limit_{};
  std::unique_ptr<testee::Runtime> runtime_;
  OpenLibrary open_;
  std::optional<hosts::ChildLibrary> children_;
  hosts::Substituted substituted_;
  std::optional<hosts::WrongInstruction> wrong_;
  std::optional<delegates::WrongPiece> wrong_delegate_;
  std::string no_wrong_delegate_;
};

}  // namespace assay::command
