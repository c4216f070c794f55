#include <gmock/gmock-matchers.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "optimized/kernels/transpose.h"
#include "tests/support/backwards.h"

// Copies compared to the definition, which places each index by its strides.
namespace assay::kernels {
namespace kernels_transpose_test {

std::vector<std::ptrdiff_t> strides_of(const std::vector<std::size_t>& sizes) {
  std::vector<std::ptrdiff_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * static_cast<std::ptrdiff_t>(sizes[i]);
  return strides;
}

template <class T>
void check(const std::vector<CopyAxis>& axes) {
  std::size_t elements = 1;
  std::ptrdiff_t from_first = 0, from_last = 0, to_last = 0;
  for (const CopyAxis& axis : axes) {
    elements *= axis.size;
    const auto reach = (static_cast<std::ptrdiff_t>(axis.size) - 1) * axis.from_stride;
    (reach < 0 ? from_first : from_last) += reach;
    to_last += (static_cast<std::ptrdiff_t>(axis.size) - 1) * axis.to_stride;
  }
  std::vector<T> from(elements ? static_cast<std::size_t>(from_last - from_first + 1) : 1),
      want(elements ? static_cast<std::size_t>(to_last + 1) : 1);
  std::iota(from.begin(), from.end(), T{1});
  const T* origin = from.data() - from_first;
  for (std::size_t n = 0; n < elements; ++n) {
    std::ptrdiff_t from_at = 0, to_at = 0;
    std::size_t rest = n;
    for (std::size_t i = axes.size(); i-- > 0; rest /= axes[i].size) {
      const auto index = static_cast<std::ptrdiff_t>(rest % axes[i].size);
      from_at += index * axes[i].from_stride, to_at += index * axes[i].to_stride;
    }
    want[static_cast<std::size_t>(to_at)] = origin[from_at];
  }
  for (const std::size_t count : {1u, 2u, 3u}) {
    std::vector<T> got(want.size());
    copy(axes, sizeof(T), origin, got.data(), backwards(count));
    EXPECT_EQ(got, want) << count << " threads, elements of " << sizeof(T) << " bytes";
  }
}

void check_all(const std::vector<CopyAxis>& axes) {
  check<std::uint8_t>(axes), check<std::uint16_t>(axes), check<std::uint32_t>(axes), check<std::uint64_t>(axes);
}

TEST(Copy, Permutes) {
  for (const std::vector<std::size_t>& sizes :
       {std::vector<std::size_t>{2, 3, 4, 5}, {1, 9, 1, 17}, {4, 8, 12, 1}, {5, 5, 3, 16}}) {
    std::vector<std::size_t> order{0, 1, 2, 3};
    do {
      std::vector<std::size_t> permuted;
      for (const std::size_t i : order) permuted.push_back(sizes[i]);
      const auto from = strides_of(sizes), to = strides_of(permuted);
      std::vector<CopyAxis> axes;
      for (std::size_t i = 0; i < order.size(); ++i) axes.push_back({permuted[i], from[order[i]], to[i]});
      check_all(axes);
      std::ranges::reverse(axes);
      check_all(axes);
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST(Copy, TransposesAroundEachEdgeOfABlock) {
  for (std::size_t rows = 1; rows < 9; ++rows)
    for (std::size_t columns = 1; columns < 9; ++columns) check_all({{rows, 1, 12}, {columns, 11, 1}});
}

// Rows whose lines do not stay in the cache together.
TEST(Copy, TransposesRowsAtCrowdedDistances) {
  for (const std::size_t columns : {16u, 37u})
    for (const std::size_t rows : {33u, 44u}) check_all({{rows, 1024, 1}, {columns, 1, 45}});
}

TEST(Copy, ExpandsSlicesAndFlips) {
  check_all({{3, 0, 5}, {5, 2, 1}});
  check_all({{5, 0, 1}, {3, 7, 5}});
  check_all({{4, -6, 6}, {6, -1, 1}});
  check_all({{4, 1, 30}, {9, 4, 2}});
  check_all({});
  check_all({{0, 1, 1}, {3, 1, 1}});
  check_all({{7, 3, 3}});
}

TEST(Copy, MovesChannels) {
  constexpr std::size_t n = 2, c = 3, pixels = 35;
  std::vector<std::uint32_t> first(n * c * pixels), last(first.size()), back(first.size());
  std::iota(first.begin(), first.end(), 0u);
  channels_first_to_last(n, c, pixels, sizeof(std::uint32_t), first.data(), last.data());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < c; ++j)
      for (std::size_t k = 0; k < pixels; ++k)
        EXPECT_EQ(last[(i * pixels + k) * c + j], first[(i * c + j) * pixels + k]);
  channels_last_to_first(n, c, pixels, sizeof(std::uint32_t), last.data(), back.data());
  EXPECT_EQ(back, first);
}

}  // namespace kernels_transpose_test
}  // namespace assay::kernels
