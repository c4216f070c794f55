#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dtype.gen.h"
#include "format/layout.h"
#include "format/rule.h"

// The values of a method while it runs, in memory that its client owns.
namespace assay::optimized {

using format::max_rank;

constexpr std::uint64_t most_beyond = 16;

// A tensor. Its elements lie in dim_order, outermost first, without gaps.
struct Tensor {
  std::byte* data = nullptr;   // null: it has no memory
  std::byte* home = nullptr;   // where it is when an execution begins; only a view moves
  std::uint64_t capacity = 0;  // bytes there
  std::int32_t* sizes = nullptr;
  const std::int32_t* declared = nullptr;  // its sizes, or those of as many elements as it can have
  const std::uint8_t* dim_order = nullptr;
  DType dtype = DType::float32;
  std::uint8_t rank = 0;
  bool moves = false;      // its sizes may change
  bool unbounded = false;  // to as many elements as there is memory for, by the plan those of its declared sizes
  bool constant = false;   // its elements are those of the file
  // Of a constant whose elements somebody looked at: whether none is infinite or NaN.
  enum class Finite : std::uint8_t { unknown, yes, no } finite = Finite::unknown;
  bool read_beyond = false;  // a kernel reads up to most_beyond bytes behind its elements, whatever is there
  bool lasts = false;        // state: what it holds, and its sizes, stay from one execution to the next

  std::span<const std::int32_t> shape() const { return {sizes, rank}; }
  std::int64_t size(int d) const { return sizes[d]; }
  std::int64_t count() const;  // of its elements
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(count()) * element_bytes(); }
  std::uint64_t element_bytes() const;
  bool is_contiguous() const;  // dim_order is 0, 1, 2, ..., but for dimensions of size 1
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
  bool changes = false;     // an instruction writes it, so that what it is now says nothing of later
  std::uint32_t count = 0;  // of a list or string
  union {
    std::int64_t integer = 0;
    double real;
    bool boolean;
    const char* text;
    Tensor* tensor;
    Value* const* values;  // integers, tensors: null for a None
    const double* reals;
    const std::uint8_t* booleans;
  };

  std::string_view string() const { return {text, count}; }
  std::span<Value* const> items() const { return {values, count}; }
};

// A tensor of float32 whose sizes stay.
inline bool is_f32(const Value& v) {
  return v.kind == ValueKind::tensor && v.tensor->dtype == DType::float32 && !v.tensor->moves;
}

// Gives a tensor these sizes, if it can have them: its declared ones, or where they move no more elements than these
// and than fit its memory.
bool resize(Tensor& tensor, std::span<const std::int32_t> sizes);
// The rule by which it cannot: the memory that the client gave is too small (V4), or this other.
format::RuleId rule_of_sizes(const Tensor& tensor, std::size_t rank, format::RuleId other);

}  // namespace assay::optimized
