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

// Backends run what a program delegates to them. Faults of theirs are thrown as assay::Fault.
namespace assay {

struct RuntimeOptions;

struct CompileSpec {
  std::string_view key;
  std::span<const std::byte> value;
};

// What a delegate is made from. The bytes live as long as the program.
struct DelegateSource {
  std::span<const std::byte> payload;
  std::vector<CompileSpec> compile_specs;
  const RuntimeOptions& options;  // for programs that are delegated: what they use is charged to the host
  std::function<std::optional<std::span<const std::byte>>(std::string_view key)>
      named_data;  // of the program and its data files

  const CompileSpec* compile_spec(std::string_view key) const;  // null: none of this key
};

// One delegated part of a method, from the method's loading to its end.
class Delegate {
 public:
  virtual ~Delegate() = default;
  virtual std::size_t inputs() const = 0;  // how many of the arguments are read; those behind are outputs
  virtual std::size_t outputs() const = 0;
  // Outputs come in as the method declares them, tensors without bytes, and go out as results.
  virtual void execute(std::span<Value> arguments) = 0;
};

using MakeDelegate = std::function<std::unique_ptr<Delegate>(const DelegateSource&)>;
using Backends = std::map<std::string, MakeDelegate, std::less<>>;

// The demonstration backend: the payload is itself a program, whose method "forward" is run. With the compile spec
// "named_data" the payload is the named data of that key instead.
constexpr std::string_view program_backend = "ProgramBackend";
std::unique_ptr<Delegate> make_program_delegate(const DelegateSource& source);

// The backends of the reference: the demonstration backend.
Backends own_backends();

}  // namespace assay
