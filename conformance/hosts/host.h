#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "conformance/hosts/program_runner.h"
#include "conformance/inspect/value_or_throw.h"
#include "reference/runtime/runtime.h"

// A loaded program whose methods are called by name. All functions throw Fault.
namespace assay {

// The program of a .pte file with its .ptd files.
ValidProgram valid_program(const File& program, std::span<const File> data = {});

class Host final : public ProgramRunner {
 public:
  // Each host has its own state, even if several hosts share the program.
  explicit Host(const ValidProgram& program, RuntimeOptions options = {}, Listener* listener = nullptr);

  const pte::ExecutionPlan& plan(std::string_view method) const override;
  std::string default_method() const override;

  // Runs the method on the inputs as adapted() converts them. The method is prepared at its first call. Faults: those
  // of adapted() and of the runtime.
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

  // The tensors that the method keeps from one call to the next, with their names in the file, or with their index.
  std::vector<std::pair<std::string, Tensor>> state(const std::string& method);

 private:
  const pte::Program& tables() const { return program_->tables(); }
  Method& ready(const std::string& method);

  ValidProgram program_;
  LoadedProgram loaded_;
  Listener* listener_;
  std::map<std::string, Method, std::less<>> methods_;
};

// Converts inputs to what a method declares: tensors to the declared dim order, an integer to a float if a float is
// declared. Faults: R4 if the number of inputs is not that of the method.
std::vector<Value> adapted(const pte::ExecutionPlan& plan, std::vector<Value> inputs);

// Describes what a method wants for each input, at most twenty: "float32 up to (2, 3), laid out as (1, 0)".
std::vector<std::string> wants(const pte::ExecutionPlan& plan);

}  // namespace assay
