#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/sandbox/client_memory.h"
#include "optimized/runtime/method.h"
#include "reference/fault.h"
#include "reference/value.h"

// The optimized runtime as a client uses it, with the sentences and backends of the reference.
namespace assay::fuzz {

// How an execution ended, and the properties of each output that do not depend on rounding.
struct Said {
  Outcome outcome = Outcome::ok;
  std::string rule;
  std::vector<std::string> outputs;
};
Said refused(const Fault& fault);
Said refused(const optimized::Fault& fault);
std::string kind_of(const Value& value);

struct DeployedExecution {
  Said said;
  std::vector<Value> outputs = {};
  std::optional<sandbox::ClientMemory> packed = {};  // the file of the packed constants
};

// Executes a method for the first time, in memories of exactly the sizes that it requests, optionally with saved packed
// constants. Every other input is lent. Returns nothing if the method needs more memory than fuzzing allows.
std::optional<DeployedExecution> execute(const optimized::Program& program, const pte::ExecutionPlan& plan,
                                         std::span<const std::optional<Value>> inputs,
                                         std::optional<optimized::KeptConstants> packed = {});

// A program opened by the optimized runtime, with the memory that it needs.
class DeployedProgram {
 public:
  DeployedProgram(std::span<const std::byte> file, std::span<const std::byte> data);  // no data file if `data` is empty
  bool is_too_large() const { return too_large_; }
  const std::optional<optimized::Program>& program() const { return program_; }
  const optimized::Fault& fault() const { return fault_; }

 private:
  sandbox::ClientMemory file_, data_;
  format::DataView views_[1];
  std::optional<sandbox::ClientMemory> memory_;
  bool too_large_ = false;
  optimized::Fault fault_;
  std::optional<optimized::Program> program_;
};

}  // namespace assay::fuzz
