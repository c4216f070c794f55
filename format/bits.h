#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace assay::format {

// A set of small numbers, with one bit for each number.
class Bits {
 public:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::uint64_t words(std::uint64_t bits) { return (bits + 63) / 64; }

  Bits() = default;
  explicit Bits(std::span<std::uint64_t> words) : words_(words) {}

  std::size_t size() const { return words_.size() * 64; }
  bool test(std::size_t i) const { return words_[i / 64] >> i % 64 & 1; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void clear(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }

  // The smallest member of the set that is not less than i, or `none`.
  std::size_t next(std::size_t i) const {
    if (i >= size()) return none;
    std::uint64_t word = words_[i / 64] & ~std::uint64_t{0} << i % 64;
    for (std::size_t w = i / 64;; word = words_[w]) {
      if (word != 0) return w * 64 + static_cast<std::size_t>(std::countr_zero(word));
      if (++w == words_.size()) return none;
    }
  }
  // The largest member of the set that is less than i, or `none`.
  std::size_t previous(std::size_t i) const {
    if (i == 0 || words_.empty()) return none;
    std::size_t w = (std::min(i, size()) - 1) / 64;
    std::uint64_t word = i < size() ? words_[w] & ~std::uint64_t{0} >> (63 - (i - 1) % 64) : words_[w];
    for (;; word = words_[w]) {
      if (word != 0) return w * 64 + 63 - static_cast<std::size_t>(std::countl_zero(word));
      if (w-- == 0) return none;
    }
  }

 private:
  std::span<std::uint64_t> words_;
};

}  // namespace assay::format
