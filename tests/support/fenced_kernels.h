#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "optimized/kernels/epilogue.h"
#include "optimized/kernels/instruction_set.h"

// Shared parts of the kernel tests: memory between guard pages, numbers, formulas in double.
namespace assay::kernels {

inline constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

// n elements that end at a guard page. The bytes before the elements must not change.
template <class T>
class FencedArray {
 public:
  explicit FencedArray(std::size_t n, std::size_t alignment = sizeof(T)) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = (n * sizeof(T) + alignment - 1) / alignment * alignment;
    size_ = (bytes + 2 * page - 1) / page * page + page;
    memory_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_ + size_ - page, page, PROT_NONE) != 0) std::abort();
    before_ = size_ - page - bytes;
    std::memset(memory_, pattern, before_);
    elements_ = {reinterpret_cast<T*>(memory_ + before_), n};
  }
  explicit FencedArray(const std::vector<T>& values) : FencedArray(values.size()) {
    std::ranges::copy(values, elements_.begin());
  }
  FencedArray(const FencedArray&) = delete;
  FencedArray& operator=(const FencedArray&) = delete;
  ~FencedArray() {
    for (std::size_t i = 0; i < before_; ++i)
      if (memory_[i] != std::byte{pattern}) {
        ADD_FAILURE() << "written " << before_ - i << " bytes before the beginning";
        break;
      }
    munmap(memory_, size_);
  }

  T* data() const { return elements_.data(); }
  std::vector<T> values() const { return {elements_.begin(), elements_.end()}; }

 private:
  static constexpr unsigned char pattern = 0xa5;
  std::byte* memory_;
  std::size_t size_, before_;
  std::span<T> elements_;
};
using Fenced = FencedArray<float>;

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

inline std::vector<float> random_floats(std::size_t n) {
  static std::mt19937 generator(7);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<float> values(n);
  for (float& x : values) x = any(generator);
  return values;
}

// Values with gaps between rows. The gaps are NaN; in a result they must not change.
inline std::vector<float> with_gaps(const std::vector<float>& values, std::size_t rows, std::size_t columns,
                                    std::size_t gap) {
  std::vector<float> apart(rows ? rows * (columns + gap) - gap : 0, nan);
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * columns), columns,
                apart.begin() + static_cast<std::ptrdiff_t>(i * (columns + gap)));
  return apart;
}

inline double activated(const Epilogue& e, double x) {
  switch (e.activation) {
    case Activation::none:
      return x;
    case Activation::clamp:
      return x < double{e.low} ? double{e.low} : x > double{e.high} ? double{e.high} : x;
    case Activation::hardsigmoid:
      return (x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3) / 6;
    case Activation::hardswish:
      return x * (x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3) / 6;
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::gelu:
      return x / 2 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::fake_quantize:
      break;  // not continuous: a bound of the error of x is no bound of its error
  }
  return nan;
}

// The instruction sets of this machine. For all kernels but those of bytes, `amx` is avx512 and is left out.
inline std::vector<InstructionSet> sets() {
  std::vector<InstructionSet> all;
  for (std::size_t i = 0; i < std::size(instruction_sets); ++i)
    if (const auto set = static_cast<InstructionSet>(i); set != InstructionSet::amx && is_supported(set))
      all.push_back(set);
  return all;
}

}  // namespace assay::kernels
