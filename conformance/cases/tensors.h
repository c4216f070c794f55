#pragma once

#include <span>
#include <string>

#include "reference/fault.h"
#include "reference/value.h"

namespace assay::cases {

// Calls f(tensor) for every tensor of a value; each tensor of a list alone.
template <class F>
void each_tensor(const Value& value, F f) {
  if (const Tensor* t = std::get_if<Tensor>(&value)) f(*t);
  if (const Tensors* list = std::get_if<Tensors>(&value))
    for (const auto& t : *list)
      if (t) f(*t);
}

// Calls f(tensor, i) for every tensor of the i-th argument.
template <class F>
void each_tensor(std::span<const Value> arguments, F f) {
  for (std::size_t i = 0; i < arguments.size(); ++i) each_tensor(arguments[i], [&](const Tensor& t) { f(t, i); });
}

inline bool is_contiguous(const Tensor& t) { return t.dim_order == Dims::counting(t.rank()); }

inline bool is_channels_last(const Tensor& t) {
  return t.dim_order == Dims{0, 2, 3, 1} || t.dim_order == Dims{0, 2, 3, 4, 1};
}

// "contiguous", "channels_last", or the dim order as "(0,2,1)".
inline std::string layout_name(const Tensor& t) {
  return is_contiguous(t) ? "contiguous" : is_channels_last(t) ? "channels_last" : concat(t.dim_order);
}

}  // namespace assay::cases
