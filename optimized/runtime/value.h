#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dtype.gen.h"
#include "format/layout.h"
#include "format/rule.h"

// The values of a method while it runs, in memory that the client owns.
namespace assay::optimized {

using format::max_rank;

constexpr std::uint64_t most_beyond = 16;

// A tensor. Its elements are in the order of dim_order, outermost dimension first, without gaps.
struct Tensor {
  std::byte* data = nullptr;   // null: it has no memory
  std::byte* home = nullptr;   // `data` at the beginning of an execution; only a view moves
  std::uint64_t capacity = 0;  // bytes at `data`
  std::int32_t* sizes = nullptr;
  const std::int32_t* declared = nullptr;  // the largest sizes; the sizes, unless they may change
  const std::uint8_t* dim_order = nullptr;
  DType dtype = DType::float32;
  std::uint8_t rank = 0;
  bool moves = false;      // its sizes may change
  bool unbounded = false;  // its memory alone limits its sizes, not the declared ones
  bool constant = false;   // its elements are those of the file
  // Of a constant: whether all elements are finite. A kernel finds it out once.
  enum class Finite : std::uint8_t { unknown, yes, no } finite = Finite::unknown;
  bool read_beyond = false;  // a kernel reads up to most_beyond bytes behind its elements and ignores them
  bool lasts = false;        // state: elements and sizes stay from one execution to the next

  std::span<const std::int32_t> shape() const { return {sizes, rank}; }
  std::int64_t size(int d) const { return sizes[d]; }
  std::int64_t count() const;  // of elements
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(count()) * element_bytes(); }
  std::uint64_t element_bytes() const;
  bool is_contiguous() const;  // dim_order is 0, 1, 2, ..., dimensions of size 1 aside
  template <class T>
  T* elements() const {
    return reinterpret_cast<T*>(data);
  }
};

enum class ValueKind : std::uint8_t {
  none,
  integer,
  real,
  boolean,
  string,
  tensor,
  integers,
  tensors,
  reals,
  booleans
};

struct Value {
  ValueKind kind = ValueKind::none;
  bool changes = false;     // an instruction writes it, so that its value at preparation may not last
  std::uint32_t count = 0;  // of a list or string
  union {
    std::int64_t integer = 0;
    double real;
    bool boolean;
    const char* text;
    Tensor* tensor;
    Value* const* values;  // integers, tensors: null is None
    const double* reals;
    const std::uint8_t* booleans;
  };

  std::string_view string() const { return {text, count}; }
  std::span<Value* const> items() const { return {values, count}; }
};

// A tensor of float32 whose sizes do not change.
inline bool is_f32(const Value& v) {
  return v.kind == ValueKind::tensor && v.tensor->dtype == DType::float32 && !v.tensor->moves;
}

// Sets the sizes of a tensor. False if it cannot have them. A static tensor takes its declared sizes alone. A bounded
// tensor takes sizes that are at most the declared one in each dimension. An unbounded tensor takes any sizes. The
// elements must fit the tensor's memory.
bool resize(Tensor& tensor, std::span<const std::int32_t> sizes);
// The rule that such sizes break: V4 where the memory that the client gave is too small, else this one.
format::RuleId rule_of_sizes(const Tensor& tensor, std::size_t rank, format::RuleId other);

}  // namespace assay::optimized
