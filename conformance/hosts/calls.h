#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/files/compare.h"
#include "conformance/files/file.h"
#include "conformance/hosts/host.h"

// Calls of a program's methods with what is expected of them. spec/calls.md defines calls.json.
namespace assay {

struct ProgramCall {
  std::string method;
  std::vector<Value> inputs;
  std::optional<std::vector<Value>> outputs;  // none: nothing is compared
  Tolerance tolerance;
  std::string fails;  // the rule by which the call is to be refused; empty: it is not
};

struct ProgramCalls {
  std::string description;
  std::vector<std::filesystem::path> data;
  std::vector<ProgramCall> calls;
};

// Paths in the file are relative to its folder. Throws malformed Faults: those of read_npy, call.json, calls.format.
ProgramCalls read_calls(const std::filesystem::path& file, const Access& access = {});

// Calls f with what a bundle holds, a call for each of its cases. Throws Fault: B5 to B7.
inline constexpr Tolerance bundle_tolerance{1e-5, 1e-8};  // upstream's
void each_call(const BundleFile& bundle, const Tolerance& tolerance, const std::function<void(const ProgramCall&)>& f);

// What came of a call.
struct CallResult {
  std::vector<Value> outputs;
  std::optional<Fault> refusal;
  std::optional<Violation> violation;
  std::vector<Comparison> comparisons;  // one for each output that was expected
  std::string mismatch;                 // the number of outputs differs, it did not fail as it should, or misdeed

  bool agrees() const;  // nothing is different, and a refusal is the one that was expected
};
CallResult run_call(ProgramRunner& runner, const ProgramCall& call);

}  // namespace assay
