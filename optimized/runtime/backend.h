#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "optimized/runtime/fault.h"
#include "optimized/runtime/value.h"

// Backends execute what a program delegates to them. The client hands them in by Options::backends.
namespace assay::optimized {

struct CompileSpec {
  std::string_view key;
  std::span<const std::byte> value;
};

// What a backend makes a delegate from. The bytes live as long as the program.
struct DelegateSource {
  std::string_view backend;  // the backend's id
  std::span<const std::byte> payload;
  std::int64_t instructions = 0;  // limit of one execution of the method, with all that it delegates

  CompileSpec compile_spec(std::uint32_t i) const { return find_spec(specs, i); }
  // The named data of the program and of its data files. None: there are none of this key.
  std::optional<std::span<const std::byte>> named_data(std::string_view key) const { return find_data(data, key); }

  std::uint32_t compile_specs = 0;  // how many there are
  // Set by the front end that reads the program; they are valid while the delegate begins.
  const void *specs = nullptr, *data = nullptr;
  CompileSpec (*find_spec)(const void* specs, std::uint32_t i) = nullptr;
  std::optional<std::span<const std::byte>> (*find_data)(const void* data, std::string_view key) = nullptr;
};

// A backend and its functions, which the client gives.
struct Backend {
  std::string_view id;
  void* context;
  // Makes a delegate when the method is made. Null is a failure.
  void* (*begin)(void* context, const DelegateSource& source, Fault& fault);
  // `left` is the number of instructions that are left of the execution. A delegate that executes instructions
  // subtracts them.
  bool (*execute)(void* delegate, std::span<Value* const> arguments, std::int64_t& left, Fault& fault);
  // Called when the client is done with the method.
  void (*end)(void* delegate);
};

}  // namespace assay::optimized
