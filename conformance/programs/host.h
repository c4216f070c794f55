#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference/runtime/runtime.h"

// A loaded program that is called by name. Everything here throws Fault.
namespace assay {

// The value, or the first of the faults, which says how many more there are.
template <class T>
T taken(Result<T> result) {
  if (result) return std::move(*result.value);
  Fault first = std::move(result.faults.front());
  if (const std::uint64_t more = result.faults.size() - 1 + result.more; more > 0)
    first.message += text(" (and ", more, " more: assay check shows all)");
  throw first;
}

class Host {
 public:
  Host(File program, std::vector<File> data = {}, RuntimeOptions options = {}, Listener* listener = nullptr);

  const pte::ExecutionPlan& plan(std::string_view method) const;  // G3
  std::string default_method() const;                             // "forward", or the only one. Faults: G3

  // Runs the method, which is made ready once, so that its state stays from call to call. Tensors are laid out in the
  // dim order that the program declares; an integer becomes a float where it declares one. Faults: R4 where their
  // number is not that of the method; those of the runtime.
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs);

 private:
  Method& ready(const std::string& method);

  LoadedProgram program_;
  Listener* listener_;
  std::map<std::string, Method, std::less<>> methods_;
};

// One line for each input of a method: "0: float32 up to (2, 3), laid out as (1, 0)".
std::vector<std::string> wants(const pte::ExecutionPlan& plan);

}  // namespace assay
