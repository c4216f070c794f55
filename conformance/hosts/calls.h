#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/files/compare.h"
#include "conformance/files/file.h"
#include "conformance/hosts/host.h"

// Calls of a program's methods with their expected results. spec/program_calls.md defines calls.json.
namespace assay::hosts {

struct ProgramCall {
  std::string method;
  std::vector<Value> inputs;
  std::optional<std::vector<Value>> outputs;  // empty if the outputs are not compared
  files::Tolerance tolerance;
  std::string fails;  // the rule that must refuse the call; empty if the call must succeed
};

struct ProgramCalls {
  std::string description;
  std::vector<std::filesystem::path> data;
  std::vector<ProgramCall> calls;
};

// Paths in the file are relative to its folder. Throws malformed Faults: those of read_npy, call.json, calls.format.
ProgramCalls read_calls(const std::filesystem::path& file, const files::Access& access = {});

// Calls f with each test case of a bundle. Throws Fault: B5 to B7.
inline constexpr files::Tolerance bundle_tolerance{1e-5, 1e-8};  // the default of ExecuTorch
void each_call(const BundleFile& bundle, const files::Tolerance& tolerance,
               const std::function<void(const ProgramCall&)>& f);

// The calls that come with a program: the test cases of a bundle, or if there are none, the calls in the file
// calls.json of the same folder. `from` is the file that has the calls; it is empty if no calls come with the program.
struct GivenCalls {
  ProgramCalls calls;
  std::filesystem::path from;
};
GivenCalls calls_given_with(const std::filesystem::path& program, const File& file);  // `file` is at that path

// What a call led to.
struct CallResult {
  std::vector<Value> outputs;
  std::optional<Fault> refusal;
  std::optional<Violation> violation;
  std::vector<files::Comparison> comparisons;  // one for each expected output
  std::string mismatch;                        // a wrong number of outputs, a wrong or missing refusal, or a violation

  bool agrees() const;  // all outputs agree, and a refusal is the expected one
};
CallResult run_call(ProgramRunner& runner, const ProgramCall& call);

}  // namespace assay::hosts
