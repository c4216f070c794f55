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

// Backends run the parts that a program delegates to them. They throw their faults as assay::Fault.
namespace assay {

struct RuntimeOptions;

struct CompileSpec {
  std::string_view key;
  std::span<const std::byte> value;
};

// The data that a delegate is made from. The bytes live as long as the program.
struct DelegateSource {
  std::span<const std::byte> payload;
  std::vector<CompileSpec> compile_specs;
  const RuntimeOptions& options;  // for delegated programs, whose costs are charged to the host
  std::function<std::optional<std::span<const std::byte>>(std::string_view key)>
      named_data;  // of the program and its data files

  const CompileSpec* compile_spec(std::string_view key) const;  // null: there is none with this key
};

// One delegated part of a method. It lives as long as the method.
class Delegate {
 public:
  virtual ~Delegate() = default;
  virtual std::size_t inputs()
      const = 0;  // the number of arguments that are read; the arguments behind them are outputs
  virtual std::size_t outputs() const = 0;
  // Before the call, outputs are tensors without bytes, as the method declares them; after it, they are the results.
  virtual void execute(std::span<Value> arguments) = 0;
};

using MakeDelegate = std::function<std::unique_ptr<Delegate>(const DelegateSource&)>;
using Backends = std::map<std::string, MakeDelegate, std::less<>>;

// The demonstration backend, "ProgramBackend": its payload is a program, whose method "forward" it runs. With the
// compile spec "named_data", the payload is the named data with that key.
constexpr std::string_view program_backend = "ProgramBackend";
std::unique_ptr<Delegate> make_program_delegate(const DelegateSource& source);

// The backends of the reference: the demonstration backend.
Backends own_backends();

}  // namespace assay
