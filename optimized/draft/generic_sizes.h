#pragma once

#include <cstddef>

#include "optimized/draft/draft.h"

namespace assay::optimized {

// Gives values whose sizes move generic sizes until it is destroyed: each symbol is another prime number. What a call
// computes of sizes and strides are products of numbers and symbols. Two products that are equal for these primes have
// the same symbols, and a product that divides another for these primes divides it for all sizes. So if a view can be
// made of generic sizes, it can be made of all sizes, and generic sizes that are equal are equal in every execution.
class GenericSizes {
 public:
  explicit GenericSizes(const Draft& draft) : draft_(draft) {}
  ~GenericSizes();
  GenericSizes(const GenericSizes&) = delete;
  GenericSizes& operator=(const GenericSizes&) = delete;

  // Return false if a size has no symbol, or there are too many symbols or values. Lists of other kinds than integers
  // keep their items.
  bool take(const Value& value);
  bool take(const Call& call);

 private:
  static constexpr std::size_t most_symbols = 6, most_values = 96;
  struct Taken {
    Value* value;
    std::int64_t before;  // of an integer
  };

  bool replace(std::int32_t& size);
  bool set(Value& value);

  const Draft& draft_;
  std::int32_t symbols_[most_symbols];
  Taken taken_[most_values];
  std::size_t count_of_symbols_ = 0, count_ = 0;
};

}  // namespace assay::optimized
