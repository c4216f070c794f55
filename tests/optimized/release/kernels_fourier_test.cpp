#include "optimized/kernels/fourier.h"

#include <gmock/gmock-matchers.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "tests/support/fenced_kernels.h"

// Fourier transforms of every instruction set, compared to sums of products in long double. The memory is between guard
// pages.
namespace assay::kernels {
namespace kernels_fourier_test {

using Exact = std::complex<long double>;

class FourierTransforms : public testing::TestWithParam<InstructionSet> {};
INSTANTIATE_TEST_SUITE_P(EachInstructionSet, FourierTransforms, testing::ValuesIn(sets()),
                         [](const auto& set) { return traits(set.param).name; });

// Each radix, products of radices, and primes beyond them.
const std::size_t sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,  13,  14,  15,  16,  17,  18, 20,
                             24, 25, 27, 30, 32, 35, 36, 49, 60, 64, 97, 100, 105, 128, 143, 240, 256, 400};

enum class Kind { complex, reals, to_reals };

template <class T>
void check(InstructionSet set, Kind kind, std::size_t n, std::size_t lines, int sign) {
  SCOPED_TRACE(testing::Message() << n << " points of " << sizeof(T) << " bytes, " << lines << " lines, sign " << sign
                                  << ", kind " << static_cast<int>(kind));
  constexpr T scale = T(0.25);
  const std::size_t half = n / 2;
  std::vector<Exact> points(n * lines);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto at = static_cast<double>(i);
    points[i] = Exact(static_cast<T>(std::sin(at * at + 1)),
                      kind == Kind::reals ? T(0) : static_cast<T>(std::cos(3 * at * at)));
  }
  if (kind == Kind::to_reals)
    for (std::size_t i = 0; i < lines; ++i) {
      points[i].imag(0), points[half * lines + i].imag(0);
      for (std::size_t k = half + 1; k < n; ++k) points[k * lines + i] = std::conj(points[(n - k) * lines + i]);
    }
  std::vector<T> rows(2 * n * lines, T(0)), roots(2 * n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < lines; ++i) {
      const Exact x = points[k * lines + i];
      if (kind == Kind::reals) {
        rows[k * lines + i] = static_cast<T>(x.real());
      } else if (kind == Kind::complex || k <= half) {
        rows[2 * k * lines + i] = static_cast<T>(x.real());
        rows[(2 * k + 1) * lines + i] = static_cast<T>(x.imag());
      }
    }
  make_roots(n, sign, roots.data());
  const FencedArray<T> fenced_roots(roots), memory(rows),
      more(std::vector<T>(rows.size(), std::numeric_limits<T>::quiet_NaN()));
  const FourierLines<T> all{n, lines, fenced_roots.data(), memory.data(), more.data(), scale};
  const T* const got = kind == Kind::complex ? transform(set, all)
                       : kind == Kind::reals ? transform_reals(set, all)
                                             : transform_to_reals(set, all);
  std::vector<Exact> turns(n);
  for (std::size_t j = 0; j < n; ++j)
    turns[j] = std::polar(
        1.0L, sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / static_cast<long double>(n));
  const auto unit = static_cast<long double>(std::numeric_limits<T>::epsilon());
  for (std::size_t i = 0; i < lines; ++i) {
    long double magnitude = 0;
    for (std::size_t k = 0; k < n; ++k) magnitude += std::abs(points[k * lines + i]);
    for (std::size_t j = 0; j < (kind == Kind::reals ? half + 1 : n); ++j) {
      Exact want = 0;
      for (std::size_t k = 0; k < n; ++k) want += points[k * lines + i] * turns[j * k % n];
      const Exact result = kind == Kind::to_reals ? Exact(got[j * lines + i])
                                                  : Exact(got[2 * j * lines + i], got[(2 * j + 1) * lines + i]);
      if (kind == Kind::to_reals) want.imag(0);
      EXPECT_LE(std::abs(result - static_cast<long double>(scale) * want), scale * 4 * unit * magnitude)
          << "result " << j << " of line " << i;
    }
  }
}

TEST_P(FourierTransforms, AreSumsOfProducts) {
  for (const std::size_t n : sizes)
    for (const std::size_t lines : {1u, 3u, 16u})
      for (const int sign : {-1, 1})
        for (const Kind kind : {Kind::complex, Kind::reals, Kind::to_reals}) {
          if (kind != Kind::complex && n % 2 != 0) continue;
          check<float>(GetParam(), kind, n, lines, sign);
          check<double>(GetParam(), kind, n, lines, sign);
        }
}

TEST_P(FourierTransforms, SplitAndJoinPairs) {
  for (const std::size_t n : {1u, 7u, 16u, 33u}) {
    std::vector<float> pairs(2 * n);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = static_cast<float>(i);
    const Fenced fenced(pairs), first(n), second(n), joined(2 * n);
    split_pairs(GetParam(), fenced.data(), n, first.data(), second.data());
    join_pairs(GetParam(), first.data(), second.data(), n, joined.data());
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(first.data()[i], pairs[2 * i]);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(second.data()[i], pairs[2 * i + 1]);
    EXPECT_EQ(joined.values(), pairs);
  }
}

}  // namespace kernels_fourier_test
}  // namespace assay::kernels
