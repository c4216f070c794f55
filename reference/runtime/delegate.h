#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/value.h"

// The interface of backends. A backend runs the parts that a program delegates to it. A backend reports a fault by
// throwing assay::Fault.
namespace assay {
namespace pte {
struct ExecutionPlan;
}

struct RuntimeOptions;

struct CompileSpec {
  std::string_view key;
  std::span<const std::byte> value;
};

// The data from which a backend makes a delegate. The bytes stay valid as long as the program exists.
struct DelegateSource {
  std::span<const std::byte> payload;
  std::vector<CompileSpec> compile_specs;
  const RuntimeOptions& options;  // the runtime's options; delegated programs share their budget
  // Finds named data of the program and its data files by key. Returns nothing if there is no such key.
  std::function<std::optional<std::span<const std::byte>>(std::string_view key)> named_data;
  // The method and the index of the delegate in its plan. The optimized runtime gives no plan.
  const pte::ExecutionPlan* plan = nullptr;
  std::uint32_t index = 0;

  const CompileSpec* compile_spec(std::string_view key) const;  // null if there is no compile spec with this key
};

// A delegate: one part of a method that a backend runs. The method owns the delegate.
class Delegate {
 public:
  virtual ~Delegate() = default;
  virtual std::size_t inputs() const = 0;  // the number of arguments that are inputs; they come first
  virtual std::size_t outputs() const = 0;
  // Runs the delegate. `arguments` are inputs() inputs, then outputs() outputs. Before the call each output is a tensor
  // without bytes that has the declared dtype, sizes and dim order. The function must replace each output
  // by its result.
  virtual void execute(std::span<Value> arguments) = 0;
  // While execute() runs, the place of the current call of an operator, such as "node 7, Conv2d". Empty if the delegate
  // has no such places.
  virtual std::string place() const { return {}; }
};

using MakeDelegate = std::function<std::unique_ptr<Delegate>(const DelegateSource&)>;
using Backends = std::map<std::string, MakeDelegate, std::less<>>;

// The demonstration backend, "ProgramBackend": its payload is a program, and the backend runs the method "forward" of
// that program. If the delegate has a compile spec "named_data", the value of this spec is a key, and the payload is
// the named data with this key.
constexpr std::string_view program_backend = "ProgramBackend";
std::unique_ptr<Delegate> make_program_delegate(const DelegateSource& source);

// The backend "XnnpackBackend" runs the graph of a payload (reference/xnnpack/) by operators of the specification. A
// fault names the node, such as "node 7, Conv2d". Faults: the rules of payloads (area X), and those of operators. If
// the source has no plan, the rules about calls and fixed sizes (X26, X27, X39) are not asked.
std::unique_ptr<Delegate> make_xnnpack_delegate(const DelegateSource& source);

// The backends that the reference itself has: the two above.
Backends own_backends();

}  // namespace assay
