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
  std::byte* data = nullptr;   // null if it has no memory
  std::byte* home = nullptr;   // `data` at the beginning of an execution; it changes only for views
  std::uint64_t capacity = 0;  // the number of bytes at `data`
  std::int32_t* sizes = nullptr;
  const std::int32_t* declared = nullptr;  // the sizes if they cannot change, else the largest sizes
  const std::uint8_t* dim_order = nullptr;
  DType dtype = DType::float32;
  std::uint8_t rank = 0;
  bool moves = false;      // whether its sizes may change
  bool unbounded = false;  // whether only its memory limits its sizes, not the declared sizes
  bool constant = false;   // whether it is a constant of the file, or computed from constants alone
  // For a constant without memory: the instruction that computes it while the method is made. Else no_maker.
  static constexpr std::uint32_t no_maker = ~std::uint32_t{0};
  std::uint32_t maker = no_maker;
  // For a constant: whether all elements are finite. A kernel determines this once.
  enum class Finite : std::uint8_t { unknown, yes, no } finite = Finite::unknown;
  // Whether a kernel reads up to most_beyond bytes after its elements. The kernel ignores these bytes.
  bool read_beyond = false;
  // Whether it is state: elements and sizes are kept from one execution to the next.
  bool lasts = false;

  std::span<const std::int32_t> shape() const { return {sizes, rank}; }
  std::int64_t size(int d) const { return sizes[d]; }
  std::int64_t count() const;  // the number of elements
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(count()) * element_bytes(); }
  std::uint64_t element_bytes() const;
  bool is_contiguous() const;  // whether dim_order is 0, 1, 2, ... when dimensions of size 1 are ignored
  // The address of the element at place i of the memory, counted in elements.
  std::byte* at(std::ptrdiff_t i) const { return data + i * static_cast<std::ptrdiff_t>(element_bytes()); }
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
  // Whether an instruction writes it, so that it may differ from its value at preparation.
  bool changes = false;
  std::uint32_t count = 0;  // the length of a list or string
  union {
    std::int64_t integer = 0;
    double real;
    bool boolean;
    const char* text;
    Tensor* tensor;
    Value* const* values;  // for lists of integers or tensors; null is a None
    const double* reals;
    const std::uint8_t* booleans;
  };

  bool is_tensor() const { return kind == ValueKind::tensor; }
  std::string_view string() const { return {text, count}; }
  std::span<Value* const> items() const { return {values, count}; }
};

inline bool is_float32(const Value& v) { return v.kind == ValueKind::tensor && v.tensor->dtype == DType::float32; }
// Whether the value is a tensor of float32 whose sizes cannot change.
inline bool is_f32(const Value& v) { return is_float32(v) && !v.tensor->moves; }

// Sets the sizes of a tensor. Returns false if it cannot have them. A static tensor takes its declared sizes alone. A
// bounded tensor takes sizes that are at most the declared one in each dimension. An unbounded tensor takes any sizes.
// The elements must fit the tensor's memory.
bool resize(Tensor& tensor, std::span<const std::int32_t> sizes);
// The rule that sizes break which resize() refused: V4 if the client's memory is too small for them, else `other`.
format::RuleId rule_of_sizes(const Tensor& tensor, std::size_t rank, format::RuleId other);

}  // namespace assay::optimized
