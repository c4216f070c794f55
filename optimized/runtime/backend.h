#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "optimized/runtime/fault.h"
#include "optimized/runtime/value.h"

// Backends execute the parts that a program delegates to them. The client supplies them in Options::backends.
namespace assay::optimized {

struct CompileSpec {
  std::string_view key;
  std::span<const std::byte> value;
};

// The data from which a backend makes a delegate. The bytes stay valid as long as the program.
struct DelegateSource {
  std::string_view backend;  // the backend's id
  std::span<const std::byte> payload;
  // The most instructions of one execution of the method, delegated programs included.
  std::int64_t instructions = 0;

  CompileSpec compile_spec(std::uint32_t i) const { return find_spec(specs, i); }
  // The named data with this key in the program or its data files, or nothing.
  std::optional<std::span<const std::byte>> named_data(std::string_view key) const { return find_data(data, key); }

  std::uint32_t compile_specs = 0;  // the number of compile specs
  // The front end that reads the program sets these members. They are valid only during `begin`.
  const void *specs = nullptr, *data = nullptr;
  CompileSpec (*find_spec)(const void* specs, std::uint32_t i) = nullptr;
  std::optional<std::span<const std::byte>> (*find_data)(const void* data, std::string_view key) = nullptr;
};

// A backend: an id and functions that the client supplies.
struct Backend {
  std::string_view id;
  void* context;
  // Makes a delegate when the method is made. Returns null and sets the fault if it fails.
  void* (*begin)(void* context, const DelegateSource& source, Fault& fault);
  // Executes the delegate. Returns false and sets the fault if it fails. `left` is the number of instructions that the
  // limit still allows; a delegate that executes instructions must subtract their number.
  bool (*execute)(void* delegate, std::span<Value* const> arguments, std::int64_t& left, Fault& fault);
  // Ends the delegate. It is called when the client ends the method.
  void (*end)(void* delegate);
};

}  // namespace assay::optimized
