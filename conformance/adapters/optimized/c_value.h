#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimized/api/assay.h"
#include "reference/value.h"

namespace assay::adapters {

// A value in the form of the C interface, with the sizes and the dim order that it refers to. A tensor's elements are
// those of `from`, which must outlive this, or lie at `data`.
struct CValue {
  explicit CValue(const Value& from, std::byte* data = nullptr) {
    if (const auto* t = std::get_if<Tensor>(&from)) {
      sizes.assign(t->sizes.begin(), t->sizes.end()), order.assign(t->dim_order.begin(), t->dim_order.end());
      value.kind = ASSAY_TENSOR;
      value.as.tensor = {data ? data : const_cast<std::byte*>(t->bytes.data()), static_cast<int>(t->dtype),
                         sizes.size(), sizes.data(), order.data()};
    } else if (const auto* n = std::get_if<Int>(&from)) {
      value.kind = ASSAY_INTEGER, value.as.integer = *n;
    } else if (const auto* d = std::get_if<double>(&from)) {
      value.kind = ASSAY_REAL, value.as.real = *d;
    } else if (const auto* b = std::get_if<bool>(&from)) {
      value.kind = ASSAY_BOOLEAN, value.as.boolean = *b;
    } else if (const auto* s = std::get_if<std::string>(&from)) {
      value.kind = ASSAY_STRING, value.as.string = {s->data(), s->size()};
    }
  }
  CValue(const CValue&) = delete;
  CValue& operator=(const CValue&) = delete;

  assay_value value{};
  std::vector<std::int32_t> sizes;
  std::vector<std::uint8_t> order;
};

}  // namespace assay::adapters
