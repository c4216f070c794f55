#include <algorithm>

#include "optimized/selection/views.h"

namespace assay::optimized {
namespace {

std::int64_t modulo(std::int64_t i, std::int64_t n) { return i < 0 ? i + n : i; }

bool bound(const Value& v, std::int64_t n, std::int64_t otherwise, std::int64_t& at) {
  if (v.kind != ValueKind::integer && v.kind != ValueKind::none) return false;
  at = v.kind == ValueKind::none ? otherwise : std::clamp<std::int64_t>(modulo(v.integer, n), 0, n);
  return true;
}

}  // namespace

View view_of(const Call& call, std::size_t argument) {
  if (call.fusion && !call.fusion->views.empty())
    if (const View* view = call.fusion->views[argument]) return *view;
  return whole(call.tensor(argument));
}

void erase(View& v, int d) {
  std::copy(v.shape.sizes + d + 1, v.shape.sizes + v.shape.rank, v.shape.sizes + d);
  std::copy(v.strides.of + d + 1, v.strides.of + v.shape.rank, v.strides.of + d);
  --v.shape.rank;
}

bool is_ascending(const View& v) {
  return std::all_of(v.strides.of, v.strides.of + v.shape.rank, [](std::ptrdiff_t stride) { return stride >= 0; });
}

bool has_views_only_of(const Call& call, std::size_t argument, std::size_t other) {
  for (std::size_t i = 0; call.fusion && i < call.fusion->views.size(); ++i)
    if (call.fusion->views[i] && i != argument && i != other) return false;
  return true;
}

bool has_sizes(const View& view, const Tensor& tensor) { return std::ranges::equal(view.shape.span(), tensor.shape()); }

Strides strides_in(const Shape& shape, const View& view) {
  Strides strides{};
  const int added = shape.rank - view.shape.rank;
  for (int d = 0; d < view.shape.rank; ++d)
    if (view.shape.sizes[d] != 1) strides.of[d + added] = view.strides.of[d];
  return strides;
}

// Merges dimensions that continue each other, from the innermost on, and splits them into the wanted sizes.
bool reshape(View& v, std::span<const std::int32_t> sizes) {
  View to{{static_cast<int>(sizes.size()), {}}, v.first, {}};
  if (sizes.size() > max_rank) return false;
  std::ranges::copy(sizes, to.shape.sizes);
  if (to.shape.count() != v.shape.count()) return false;
  if (to.shape.count() == 0) return v = to, true;
  int d = v.shape.rank;
  std::int64_t left = 1;  // elements that are left of the merged dimensions
  std::ptrdiff_t stride = 1;
  for (int k = to.shape.rank - 1; k >= 0; --k) {
    const std::int64_t n = to.shape.sizes[k];
    if (n == 1) continue;
    for (; left < n || left % n != 0; left *= v.shape.sizes[d]) {
      do {
        if (--d < 0) return false;
      } while (v.shape.sizes[d] == 1);
      if (left == 1)
        stride = v.strides.of[d];
      else if (v.strides.of[d] != stride * left)
        return false;
    }
    to.strides.of[k] = stride;
    left /= n, stride *= n;
  }
  v = to;
  return true;
}

bool compose(View& v, const View& inner, const Strides& of_tensor) {
  View to{{0, {}}, inner.first, {}};
  std::int64_t largest[max_rank] = {};  // largest index in each dimension of the tensor
  const auto add = [&](std::int64_t n, std::ptrdiff_t stride) {
    if (to.shape.rank == static_cast<int>(max_rank)) return false;
    to.shape.sizes[to.shape.rank] = static_cast<std::int32_t>(n), to.strides.of[to.shape.rank++] = stride;
    return true;
  };
  if (v.first != 0) return false;
  for (int k = 0; k < v.shape.rank; ++k) {
    std::int64_t n = v.shape.sizes[k];
    std::ptrdiff_t stride = v.strides.of[k];
    const int begin = to.shape.rank;
    while (n > 1 && stride != 0) {  // the innermost part of it that is in one dimension
      int d = 0;
      const auto of_dimension = [&] { return of_tensor.of[d] * inner.shape.sizes[d]; };
      while (d < inner.shape.rank && (stride < of_tensor.of[d] || stride >= of_dimension())) ++d;
      if (d == inner.shape.rank || stride % of_tensor.of[d] != 0) return false;
      const std::ptrdiff_t step = stride / of_tensor.of[d];
      const std::int64_t here = std::min<std::int64_t>(n, (inner.shape.sizes[d] - 1) / step + 1);
      if (here < n && (n % here != 0 || here * step != inner.shape.sizes[d])) return false;
      largest[d] += (here - 1) * step;
      if (largest[d] >= inner.shape.sizes[d] || !add(here, step * inner.strides.of[d])) return false;
      n /= here, stride = of_dimension();
    }
    if ((n > 1 || to.shape.rank == begin) && !add(n, 0)) return false;
    std::reverse(to.shape.sizes + begin, to.shape.sizes + to.shape.rank);
    std::reverse(to.strides.of + begin, to.strides.of + to.shape.rank);
  }
  v = to;
  return true;
}

bool invert(View& view, const Strides& other) {
  View to;
  for (int d = 0; d < view.shape.rank; ++d) {
    if (view.shape.sizes[d] == 1) continue;
    int at = to.shape.rank++;
    for (; at > 0 && view.strides.of[to.shape.sizes[at - 1]] < view.strides.of[d]; --at)
      to.shape.sizes[at] = to.shape.sizes[at - 1];
    to.shape.sizes[at] = d;
  }
  std::ptrdiff_t next = 1;
  for (int i = to.shape.rank - 1; i >= 0; --i) {
    const int d = to.shape.sizes[i];
    if (view.strides.of[d] != next) return false;
    next *= view.shape.sizes[d];
    to.shape.sizes[i] = view.shape.sizes[d], to.strides.of[i] = other.of[d];
  }
  return view = to, true;
}

bool slice(View& v, const Value& dim, const Value& first, const Value& last, const Value& by) {
  const int d = v.shape.rank > 0 ? dim_of(dim, v.shape.rank) : -1;
  if (d < 0 || by.kind != ValueKind::integer || by.integer < 1) return false;
  const std::int64_t n = v.shape.sizes[d], step = std::min<std::int64_t>(by.integer, std::max<std::int64_t>(n, 1));
  std::int64_t start = 0, end = 0;
  if (!bound(first, n, 0, start) || !bound(last, n, n, end)) return false;
  v.shape.sizes[d] = static_cast<std::int32_t>(end > start ? (end - start + step - 1) / step : 0);
  v.first += start * v.strides.of[d];
  v.strides.of[d] *= step;
  return true;
}

bool select(View& v, const Value& dim, const Value& index) {
  const int d = v.shape.rank > 0 ? dim_of(dim, v.shape.rank) : -1;
  if (d < 0 || index.kind != ValueKind::integer) return false;
  const std::int64_t n = v.shape.sizes[d], i = modulo(index.integer, n);
  if (i < 0 || i >= n) return false;
  v.first += i * v.strides.of[d];
  erase(v, d);
  return true;
}

}  // namespace assay::optimized
