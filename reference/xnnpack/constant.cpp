#include "reference/xnnpack/constant.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <tuple>

namespace assay::xnnpack {
namespace {

// A dim of the constant: its size, and the distance of its elements in the stored order.
struct Dim {
  std::size_t size, stride;
};

// The dims of the constant from the last to the first. Dims of 1 are left out, and dims that stay adjacent are joined.
// Has at least two dims.
std::vector<Dim> joined(const Constant& c) {
  std::vector<std::size_t> strides(c.dims.size());
  std::size_t step = 1;
  for (std::size_t d = c.dims.size(); d-- > 0; step *= c.dims[d]) strides[d] = step;
  std::vector<Dim> all;
  for (std::size_t k = c.perm.size(); k-- > 0;) {
    const Dim dim{c.dims[c.perm[k]], strides[c.perm[k]]};
    if (dim.size == 1) continue;
    if (!all.empty() && dim.stride == all.back().stride * all.back().size)
      all.back().size *= dim.size;
    else
      all.push_back(dim);
  }
  while (all.size() < 2) all.push_back({1, 0});
  return all;
}

// A matrix of `rows` x `columns` elements of N bytes. Reads and writes in squares, so that both stay in the cache.
template <std::size_t N>
void copy_matrix(std::byte* to, const std::byte* from, Dim rows, Dim columns) {
  if (columns.stride == 1) {
    for (std::size_t i = 0; i < rows.size; ++i)
      std::memcpy(to + i * columns.size * N, from + i * rows.stride * N, columns.size * N);
    return;
  }
  constexpr std::size_t side = 32;
  for (std::size_t i = 0; i < rows.size; i += side)
    for (std::size_t j = 0; j < columns.size; j += side)
      for (std::size_t r = i; r < std::min(i + side, rows.size); ++r)
        for (std::size_t c = j; c < std::min(j + side, columns.size); ++c)
          std::memcpy(to + (r * columns.size + c) * N, from + (r * rows.stride + c * columns.stride) * N, N);
}

template <std::size_t N>
std::byte* copy(std::byte* to, const std::byte* from, std::span<const Dim> dims) {
  if (dims.size() == 2) {
    copy_matrix<N>(to, from, dims[1], dims[0]);
    return to + dims[0].size * dims[1].size * N;
  }
  for (std::size_t i = 0; i < dims.back().size; ++i)
    to = copy<N>(to, from + i * dims.back().stride * N, dims.first(dims.size() - 1));
  return to;
}

// Writes 4-bit elements as bytes. A row begins at a byte, and an even element is in the low half of its byte. The
// stored number is the element + 8.
void unpack(std::span<const std::byte> packed, std::size_t row, std::span<std::byte> to) {
  constexpr unsigned half = 4, low = 0xf, zero = 8;
  const auto element = [](unsigned stored) { return static_cast<std::byte>((stored & low) - zero); };
  const std::byte* from = packed.data();
  for (; !to.empty(); to = to.subspan(row), from += (row + 1) / 2) {
    for (std::size_t i = 0; i < row / 2; ++i) {
      const unsigned both = std::to_integer<unsigned>(from[i]);
      to[2 * i] = element(both), to[2 * i + 1] = element(both >> half);
    }
    if (row % 2 != 0) to[row - 1] = element(std::to_integer<unsigned>(from[row / 2]));
  }
}

std::size_t count(std::span<const std::size_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies());
}

}  // namespace

std::size_t Constant::size() const { return count(dims) * element; }

void Constant::write(std::span<std::byte> to) const {
  if (to.empty()) return;
  const std::vector<Dim> all = joined(*this);
  std::vector<std::byte> whole;
  const std::byte* from = bytes().data();
  if (is_packed) {
    // The stored dims are [rows, elements of a row], or [rows, groups, elements of a group].
    const std::size_t row = count(std::span(dims).subspan(1));
    if (std::ranges::is_sorted(perm)) return unpack(bytes(), row, to);
    whole.resize(size());
    unpack(bytes(), row, whole);
    from = whole.data();
  }
  switch (element) {
    case 1:
      copy<1>(to.data(), from, all);
      break;
    case 2:
      copy<2>(to.data(), from, all);
      break;
    case 4:
      copy<4>(to.data(), from, all);
      break;
    default:
      copy<8>(to.data(), from, all);
  }
}

std::strong_ordering operator<=>(const Constant& a, const Constant& b) {
  if (const auto by = std::compare_three_way()(a.stored.data(), b.stored.data()); by != 0) return by;
  const auto key = [](const Constant& c) { return std::tie(c.own, c.element, c.is_packed, c.dims, c.perm); };
  return key(a) <=> key(b);
}

std::size_t Segment::add(const Constant& bytes) {
  constexpr std::size_t alignment = 16;
  pieces_.push_back({(size_ + alignment - 1) / alignment * alignment, &bytes});
  size_ = pieces_.back().begin + bytes.size();
  return pieces_.back().begin;
}

void Segment::write(std::span<std::byte> to) const {
  std::size_t end = 0;
  for (const Piece& p : pieces_) {
    std::ranges::fill(to.subspan(end, p.begin - end), std::byte{});
    p.bytes->write(to.subspan(p.begin, p.bytes->size()));
    end = p.begin + p.bytes->size();
  }
}

}  // namespace assay::xnnpack
