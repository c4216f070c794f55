#pragma once

#include <algorithm>

#include "conformance/testee/library.h"

namespace assay::testee {

// A tensor, or an argument of a call, with its own copy of the elements that the host holds.
inline Tensor copied(const TensorView& view) {
  Tensor copy = make(view.dtype, view.sizes, view.dim_order);
  std::copy_n(view.data, view.bytes(), copy.bytes.data());
  return copy;
}
inline Value copied(const HostValue& value) {
  return std::visit(
      []<class T>(const T& v) -> Value {
        if constexpr (std::is_same_v<T, TensorView>) {
          return copied(v);
        } else if constexpr (std::is_same_v<T, TensorViews>) {
          Tensors tensors;
          for (const auto& view : v) tensors.push_back(view ? std::optional(copied(*view)) : std::nullopt);
          return tensors;
        } else {
          return v;
        }
      },
      value);
}

}  // namespace assay::testee
