#include "conformance/files/same.h"

#include <algorithm>
#include <bit>

namespace assay::files {
namespace {

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.dim_order == b.dim_order && a.bytes == b.bytes;
}
bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

template <class T>
bool same_elements(const T& a, const T& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return same(x, y); });
}

}  // namespace

bool same(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, double>)
          return same(x, y);
        else if constexpr (std::is_same_v<T, Doubles> || std::is_same_v<T, Tensors>)
          return same_elements(x, y);
        else
          return x == y;
      },
      a);
}

}  // namespace assay::files
