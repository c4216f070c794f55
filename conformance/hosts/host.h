#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "conformance/hosts/runner.h"
#include "conformance/inspect/taken.h"
#include "reference/runtime/runtime.h"

// A loaded program that is called by name. Everything here throws Fault.
namespace assay {

// The program of a .pte file with the .ptd files that it is loaded with.
ValidProgram valid_program(const File& program, std::span<const File> data = {});

class Host final : public ProgramRunner {
 public:
  // A host of its own begins with fresh state, whoever else has the program.
  explicit Host(const ValidProgram& program, RuntimeOptions options = {}, Listener* listener = nullptr);

  const pte::ExecutionPlan& plan(std::string_view method) const override;
  std::string default_method() const override;

  // Runs the method, which is made ready once, on the inputs as adapted() makes them. Faults: those of adapted() and of
  // the runtime.
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

  // The tensors that the method keeps from one call to the next, as the file names them, or by their index.
  std::vector<std::pair<std::string, Tensor>> state(const std::string& method);

 private:
  const pte::Program& tables() const { return program_->tables(); }
  Method& ready(const std::string& method);

  ValidProgram program_;
  LoadedProgram loaded_;
  Listener* listener_;
  std::map<std::string, Method, std::less<>> methods_;
};

// Inputs as a method wants them: tensors laid out in the dim order that the program declares, an integer as a float
// where it declares one. Faults: R4 where their number is not that of the method.
std::vector<Value> adapted(const pte::ExecutionPlan& plan, std::vector<Value> inputs);

// What a method wants for each of its inputs: "float32 up to (2, 3), laid out as (1, 0)"; at most twenty.
std::vector<std::string> wants(const pte::ExecutionPlan& plan);

}  // namespace assay
