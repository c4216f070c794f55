#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "format/workspace.h"
#include "optimized/runtime/fault.h"
#include "optimized/runtime/value.h"

// Backends execute the parts that a program delegates to them. The client supplies them in Options::backends. The build
// has others, which run in the memory of the method (backend_table).
namespace assay::pte {
struct ExecutionPlan;
}

namespace assay::optimized {

class Method;
class Program;
struct Memories;
struct Options;
struct Sizes;

struct CompileSpec {
  std::string_view key;
  std::span<const std::byte> value;
};

// The memory of a delegate that a backend of the build runs. `prepared` and `arena` are the offsets of its memories.
struct DelegateMemory {
  std::uint64_t prepared, arena;
  std::uint64_t prepared_bytes, arena_bytes, shared_bytes, scratch_bytes;
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

  std::uint32_t compile_specs = 0;   // the number of compile specs
  const Options* options = nullptr;  // the options of the method
  // Only for backends of the build.
  format::Workspace* workspace = nullptr;  // temporary memory
  DelegateMemory* memory = nullptr;        // `size` sets it, and `begin` reads it
  Sizes* needed = nullptr;                 // what all delegates need; `size` adds what this delegate needs
  const Memories* memories = nullptr;      // of all delegates, for `begin`
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

// A backend of the build. Its delegates take no memory but that of the method. `context` is null.
struct PlannedBackend {
  Backend backend;
  // The bytes of workspace that `size` and `begin` take at most for a delegate of this plan. `depth` is the number of
  // programs around the program.
  std::uint64_t (*workspace)(const Program& program, const pte::ExecutionPlan& plan, std::uint32_t depth);
  // Counts the memory that a delegate needs. Returns false and sets the fault if the delegate cannot be made.
  bool (*size)(const DelegateSource& source, Fault& fault);
  const Method& (*method)(const void* delegate);  // the method that the delegate runs
};

}  // namespace assay::optimized
