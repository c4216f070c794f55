#include "optimized/kernels/fourier.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/fourier.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "optimized/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

template <class T>
void split_pairs(const T* pairs, std::size_t n, T* first, T* second) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) first[i] = pairs[2 * i], second[i] = pairs[2 * i + 1];
}
template <class T>
void join_pairs(const T* first, const T* second, std::size_t n, T* pairs) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) pairs[2 * i] = first[i], pairs[2 * i + 1] = second[i];
}

// Rows of real parts and of imaginary parts.
template <class T>
struct Rows {
  T *real, *imaginary;
  std::size_t step;  // from the begin of a row to the begin of the next one

  HWY_INLINE Rows row(std::size_t k) const { return {real + k * step, imaginary + k * step, step}; }
};

// A step of Stockham's algorithm. The points are rows of `width` neighbours. Rows p, p + parts, p + 2 parts, ... are
// transformed together, multiplied by roots, and become rows p radix, p radix + 1, ... of the results. The compiler
// makes vectors of the loops over a row.
template <class T>
struct FourierStep {
  // Root j of a transform of radix * parts points is root j * stride of all n.
  std::size_t n, radix, parts, width, stride;
  const T* roots;
  Rows<T> from, to;

  HWY_INLINE Rows<T> row(std::size_t p, std::size_t k) const { return from.row(p + parts * k); }
  HWY_INLINE Rows<T> result(std::size_t p, std::size_t j) const { return to.row(p * radix + j); }
  // The root by which result j of part p is multiplied.
  HWY_INLINE std::pair<T, T> root(std::size_t p, std::size_t j) const {
    return {roots[p * j * stride], roots[n + p * j * stride]};
  }
  // The root e^(sign 2 pi i j k / radix).
  HWY_INLINE std::pair<T, T> root_of_radix(std::size_t j, std::size_t k) const {
    const std::size_t at = j * k % radix * (n / radix);
    return {roots[at], roots[n + at]};
  }
};

// Writes (real, imaginary) times the root.
template <class T>
HWY_INLINE void put(T real, T imaginary, std::pair<T, T> root, T& to_real, T& to_imaginary) {
  to_real = real * root.first - imaginary * root.second;
  to_imaginary = real * root.second + imaginary * root.first;
}

template <class T>
HWY_INLINE void transform_pairs(const FourierStep<T>& s) {
  for (std::size_t p = 0; p < s.parts; ++p) {
    const auto a = s.row(p, 0), b = s.row(p, 1), to = s.result(p, 0), next = s.result(p, 1);
    const auto root = s.root(p, 1);
#pragma omp simd
    for (std::size_t i = 0; i < s.width; ++i) {
      const T real = a.real[i] - b.real[i], imaginary = a.imaginary[i] - b.imaginary[i];
      to.real[i] = a.real[i] + b.real[i], to.imaginary[i] = a.imaginary[i] + b.imaginary[i];
      put(real, imaginary, root, next.real[i], next.imaginary[i]);
    }
  }
}

template <class T>
HWY_INLINE void transform_fours(const FourierStep<T>& s) {
  const T sign = s.roots[s.n + s.n / 4];
  for (std::size_t p = 0; p < s.parts; ++p) {
    const auto a = s.row(p, 0), b = s.row(p, 1), c = s.row(p, 2), d = s.row(p, 3);
    const auto to = s.result(p, 0), to1 = s.result(p, 1), to2 = s.result(p, 2), to3 = s.result(p, 3);
    const auto root1 = s.root(p, 1), root2 = s.root(p, 2), root3 = s.root(p, 3);
#pragma omp simd
    for (std::size_t i = 0; i < s.width; ++i) {
      const T even_real = a.real[i] + c.real[i], even_imaginary = a.imaginary[i] + c.imaginary[i];
      const T odd_real = b.real[i] + d.real[i], odd_imaginary = b.imaginary[i] + d.imaginary[i];
      const T real = a.real[i] - c.real[i], imaginary = a.imaginary[i] - c.imaginary[i];
      // The difference of b and d times i, or times -i.
      const T turned_real = -sign * (b.imaginary[i] - d.imaginary[i]),
              turned_imaginary = sign * (b.real[i] - d.real[i]);
      to.real[i] = even_real + odd_real, to.imaginary[i] = even_imaginary + odd_imaginary;
      put(real + turned_real, imaginary + turned_imaginary, root1, to1.real[i], to1.imaginary[i]);
      put(even_real - odd_real, even_imaginary - odd_imaginary, root2, to2.real[i], to2.imaginary[i]);
      put(real - turned_real, imaginary - turned_imaginary, root3, to3.real[i], to3.imaginary[i]);
    }
  }
}

// An odd radix. Rows k and radix - k are replaced by their sum and their difference. With the sums weighted by cosines
// and the differences by sines, results j and radix - j are A + i B and A - i B.
template <class T>
HWY_INLINE void transform_odd(const FourierStep<T>& s) {
  constexpr std::size_t at_once = 64;
  const std::size_t half = s.radix / 2;
  for (std::size_t p = 0; p < s.parts; ++p) {
    const auto first = s.row(p, 0), to = s.result(p, 0);
    std::copy_n(first.real, s.width, to.real), std::copy_n(first.imaginary, s.width, to.imaginary);
    for (std::size_t k = 1; k <= half; ++k) {
      const auto a = s.row(p, k), b = s.row(p, s.radix - k);
#pragma omp simd
      for (std::size_t i = 0; i < s.width; ++i) {
        const T real = a.real[i] - b.real[i], imaginary = a.imaginary[i] - b.imaginary[i];
        a.real[i] += b.real[i], a.imaginary[i] += b.imaginary[i];
        b.real[i] = real, b.imaginary[i] = imaginary;
        to.real[i] += a.real[i], to.imaginary[i] += a.imaginary[i];
      }
    }
    for (std::size_t j = 1; j <= half; ++j) {
      const auto low = s.result(p, j), high = s.result(p, s.radix - j);
      const auto root = s.root(p, j), root_of_high = s.root(p, s.radix - j);
      for (std::size_t begin = 0; begin < s.width; begin += at_once) {
        const std::size_t count = std::min(at_once, s.width - begin);
        T a_real[at_once], a_imaginary[at_once], b_real[at_once] = {}, b_imaginary[at_once] = {};
        std::copy_n(first.real + begin, count, a_real), std::copy_n(first.imaginary + begin, count, a_imaginary);
        for (std::size_t k = 1; k <= half; ++k) {
          const auto sum = s.row(p, k), difference = s.row(p, s.radix - k);
          const auto angle = s.root_of_radix(j, k);
          const T cosine = angle.first, sine = angle.second;
          const T *sum_real = sum.real + begin, *sum_imaginary = sum.imaginary + begin;
          const T *difference_real = difference.real + begin, *difference_imaginary = difference.imaginary + begin;
#pragma omp simd
          for (std::size_t i = 0; i < count; ++i) {
            a_real[i] += cosine * sum_real[i], a_imaginary[i] += cosine * sum_imaginary[i];
            b_real[i] -= sine * difference_imaginary[i], b_imaginary[i] += sine * difference_real[i];
          }
        }
        for (std::size_t i = 0; i < count; ++i) {
          put(a_real[i] + b_real[i], a_imaginary[i] + b_imaginary[i], root, low.real[begin + i],
              low.imaginary[begin + i]);
          put(a_real[i] - b_real[i], a_imaginary[i] - b_imaginary[i], root_of_high, high.real[begin + i],
              high.imaginary[begin + i]);
        }
      }
    }
  }
}

// The real and the imaginary rows of points that alternate.
template <class T>
HWY_INLINE Rows<T> alternating(T* points, std::size_t lines) {
  return {points, points + lines, 2 * lines};
}

// Transforms `count` points, which alternate in `points`. `count` divides n. Returns the results, of which the real
// rows come first, in one of the memories.
template <class T>
HWY_INLINE Rows<T> transform_some(std::size_t count, const FourierLines<T>& all, T* points, T* memory) {
  Rows<T> from = alternating(points, all.lines);
  for (std::size_t left = count, width = all.lines; left > 1; std::swap(points, memory)) {
    std::size_t radix = left % 4 == 0 ? 4 : 2;
    for (std::size_t k = 3; left % radix != 0; k += 2) radix = k * k > left ? left : k;
    const Rows<T> to{memory, memory + count * all.lines, width};
    const FourierStep<T> step{all.n, radix, left / radix, width, all.n / left, all.roots, from, to};
    radix == 4 ? transform_fours(step) : radix == 2 ? transform_pairs(step) : transform_odd(step);
    left /= radix, width *= radix;
    from = {to.real, to.imaginary, width};
  }
  return {from.real, from.imaginary, all.lines};
}

// Multiplies the results by the scale. They alternate then.
template <class T>
HWY_INLINE T* merged(const Rows<T>& results, std::size_t count, const FourierLines<T>& all) {
  T* const merged = results.real == all.points ? all.memory : all.points;
  for (std::size_t k = 0; k < count; ++k) {
    const Rows<T> from = results.row(k), to = alternating(merged, all.lines).row(k);
#pragma omp simd
    for (std::size_t i = 0; i < all.lines; ++i) {
      to.real[i] = from.real[i] * all.scale, to.imaginary[i] = from.imaginary[i] * all.scale;
    }
  }
  return merged;
}

template <class T>
T* transform(const FourierLines<T>& all) {
  return merged(transform_some(all.n, all, all.points, all.memory), all.n, all);
}

// The transforms of the even and of the odd points follow from the transform z of both: they are (z[k] + conj z[-k]) /
// 2 and (z[k] - conj z[-k]) / 2i. The result is the first one plus root k times the second one.
template <class T>
T* transform_reals(const FourierLines<T>& all) {
  const std::size_t half = all.n / 2;
  const Rows<T> z = transform_some(half, all, all.points, all.memory);
  T* const results = z.real == all.points ? all.memory : all.points;
  for (std::size_t k = 0; k <= half; ++k) {
    const Rows<T> a = z.row(k % half), b = z.row((half - k) % half), to = alternating(results, all.lines).row(k);
    const T root_real = all.roots[k], root_imaginary = all.roots[all.n + k], scale = all.scale;
#pragma omp simd
    for (std::size_t i = 0; i < all.lines; ++i) {
      const T a_real = T(0.5) * a.real[i], a_imaginary = T(0.5) * a.imaginary[i];
      const T b_real = T(0.5) * b.real[i], b_imaginary = T(0.5) * b.imaginary[i];
      const T odd_real = a_imaginary + b_imaginary, odd_imaginary = b_real - a_real;
      to.real[i] = (a_real + b_real + (odd_real * root_real - odd_imaginary * root_imaginary)) * scale;
      to.imaginary[i] = (a_imaginary - b_imaginary + (odd_real * root_imaginary + odd_imaginary * root_real)) * scale;
    }
  }
  return results;
}

// The even results are the transform of the sums of points k and k + n / 2, the odd ones that of their differences
// times root k. Point k + n / 2 is the conjugate of point n / 2 - k. The imaginary parts of points 0 and n / 2 do not
// count.
template <class T>
T* transform_to_reals(const FourierLines<T>& all) {
  const std::size_t half = all.n / 2;
  const Rows<T> points = alternating(all.points, all.lines);
  std::fill_n(points.imaginary, all.lines, T(0)), std::fill_n(points.row(half).imaginary, all.lines, T(0));
  for (std::size_t k = 0; k < half; ++k) {
    const Rows<T> a = points.row(k), b = points.row(half - k), to = alternating(all.memory, all.lines).row(k);
    const T root_real = all.roots[k], root_imaginary = all.roots[all.n + k];
#pragma omp simd
    for (std::size_t i = 0; i < all.lines; ++i) {
      const T real = a.real[i] - b.real[i], imaginary = a.imaginary[i] + b.imaginary[i];
      to.real[i] = a.real[i] + b.real[i] - (real * root_imaginary + imaginary * root_real);
      to.imaginary[i] = a.imaginary[i] - b.imaginary[i] + (real * root_real - imaginary * root_imaginary);
    }
  }
  return merged(transform_some(half, all, all.memory, all.points), half, all);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

// The angle is reduced to an eighth of a turn, so that multiples of a quarter are exact.
template <class T>
void make_roots(std::size_t n, int sign, T* roots) {
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t quarter = 4 * j / n, rest = 4 * j - quarter * n;
    const bool is_late = 2 * rest > n;
    const double angle = std::numbers::pi / 2 * static_cast<double>(is_late ? n - rest : rest) / static_cast<double>(n);
    double real = is_late ? std::sin(angle) : std::cos(angle), imaginary = is_late ? std::cos(angle) : std::sin(angle);
    for (std::size_t k = 0; k < quarter; ++k) real = -std::exchange(imaginary, real);
    roots[j] = static_cast<T>(real), roots[n + j] = static_cast<T>(sign * imaginary);
  }
}

template <class T>
void split_pairs(InstructionSet set, const T* pairs, std::size_t n, T* first, T* second) {
  constexpr decltype(&HWY_STATIC_DISPATCH(split_pairs<T>)) of_set[] = ASSAY_OF_EACH_SET(split_pairs<T>);
  of_set[static_cast<std::size_t>(set)](pairs, n, first, second);
}
template <class T>
void join_pairs(InstructionSet set, const T* first, const T* second, std::size_t n, T* pairs) {
  constexpr decltype(&HWY_STATIC_DISPATCH(join_pairs<T>)) of_set[] = ASSAY_OF_EACH_SET(join_pairs<T>);
  of_set[static_cast<std::size_t>(set)](first, second, n, pairs);
}
template <class T>
T* transform(InstructionSet set, const FourierLines<T>& lines) {
  constexpr decltype(&HWY_STATIC_DISPATCH(transform<T>)) of_set[] = ASSAY_OF_EACH_SET(transform<T>);
  return of_set[static_cast<std::size_t>(set)](lines);
}
template <class T>
T* transform_reals(InstructionSet set, const FourierLines<T>& lines) {
  constexpr decltype(&HWY_STATIC_DISPATCH(transform_reals<T>)) of_set[] = ASSAY_OF_EACH_SET(transform_reals<T>);
  return of_set[static_cast<std::size_t>(set)](lines);
}
template <class T>
T* transform_to_reals(InstructionSet set, const FourierLines<T>& lines) {
  constexpr decltype(&HWY_STATIC_DISPATCH(transform_to_reals<T>)) of_set[] = ASSAY_OF_EACH_SET(transform_to_reals<T>);
  return of_set[static_cast<std::size_t>(set)](lines);
}

#define ASSAY_FOURIER(T)                                                         \
  template void make_roots(std::size_t, int, T*);                                \
  template void split_pairs(InstructionSet, const T*, std::size_t, T*, T*);      \
  template void join_pairs(InstructionSet, const T*, const T*, std::size_t, T*); \
  template T* transform(InstructionSet, const FourierLines<T>&);                 \
  template T* transform_reals(InstructionSet, const FourierLines<T>&);           \
  template T* transform_to_reals(InstructionSet, const FourierLines<T>&);
ASSAY_FOURIER(float)
ASSAY_FOURIER(double)
#undef ASSAY_FOURIER

}  // namespace assay::kernels
#endif
