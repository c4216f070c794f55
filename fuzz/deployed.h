#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/sandbox/client_memory.h"
#include "optimized/runtime/method.h"
#include "reference/fault.h"
#include "reference/value.h"

// The optimized runtime as a client has it, with the reference as its fallback.
namespace assay::fuzz {

// How an execution ended, and of each output what does not depend on rounding.
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
  std::optional<ClientMemory> packed = {};  // the file of the packed constants
};

// The first execution of a method in memories of exactly the sizes that it asks for, perhaps with packed constants that
// were kept; every other input is lent. None: it wants more memory than fuzzing has.
std::optional<DeployedExecution> execute(const optimized::Program& program, const pte::ExecutionPlan& plan,
                                         std::span<const std::optional<Value>> inputs,
                                         std::optional<optimized::KeptConstants> packed = {});

// A program as the optimized runtime opens it, with the memory that it takes.
class DeployedProgram {
 public:
  DeployedProgram(std::span<const std::byte> file, std::span<const std::byte> data);  // none where it is empty
  bool is_too_large() const { return too_large_; }
  const std::optional<optimized::Program>& program() const { return program_; }
  const optimized::Fault& fault() const { return fault_; }

 private:
  ClientMemory file_, data_;
  format::DataView views_[1];
  std::optional<ClientMemory> memory_;
  bool too_large_ = false;
  optimized::Fault fault_;
  std::optional<optimized::Program> program_;
};

}  // namespace assay::fuzz
