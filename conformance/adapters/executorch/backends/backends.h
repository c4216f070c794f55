#pragma once

#include <cstddef>
#include <cstdint>

// The backends that are registered with an ExecuTorch runtime, as plain functions. The adapter that exports them is
// compiled against the package of the runtime. Outcomes are those of assay_kernel_outcome.
namespace assay::executorch_backends {

struct Bytes {
  const void* data;
  std::size_t size;
};

struct Spec {
  const char* key;
  Bytes value;
};

// What the host does for a backend.
struct Services {
  void* context;
  // Memory of the method (`is_temporary` is false), or of the present execution. Null: refused.
  void* (*allocate)(void* context, std::size_t bytes, std::size_t alignment, bool is_temporary);
  void (*release_temporary)(void* context);
  bool (*find_named)(void* context, const char* key, std::size_t length, Bytes* found);
  void (*free_payload)(void* context);        // the backend does not need the payload any more
  void (*enter)(void* context, bool enters);  // a function of the backend begins, or has ended
};

// An argument of a delegate: a tensor, whose dtype is a number of ExecuTorch, or a number.
struct Argument {
  enum class Kind : std::uint8_t { tensor, integer, floating, boolean, none };
  Kind kind;
  bool may_be_resized;
  std::int8_t dtype;
  std::int32_t rank;
  std::int32_t* sizes;  // the sizes, and the most that a resized tensor may have; afterwards those of the result
  const std::uint8_t* dim_order;
  void* data;
  std::int64_t integer;
  double floating;
};

struct Table {
  std::size_t (*count)();
  const char* (*name)(std::size_t backend);
  // Makes a delegate: is_available and init of the backend. `services`, `payload` and `specs` must outlive it.
  std::int32_t (*init)(std::size_t backend, const Services* services, const char* method, Bytes payload,
                       const Spec* specs, std::size_t spec_count, void** delegate);
  std::int32_t (*execute)(void* delegate, Argument* arguments, std::size_t count);
  void (*destroy)(void* delegate);
  const char* (*message)();  // of the last outcome that is not ok
  const char* version;       // of ExecuTorch
};

inline constexpr const char* table_symbol = "assay_executorch_backends";
using GetTable = const Table* (*)();

}  // namespace assay::executorch_backends
