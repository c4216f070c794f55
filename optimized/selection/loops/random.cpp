#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Random numbers. Each call gives the same numbers, which depend only on their place: no state outlives a call.
namespace assay::optimized {
namespace {

// Output k of the generator SplitMix64 (Steele, Lea and Flood, 2014) with seed 0: a mix of k + 1 steps of the golden
// ratio.
std::uint64_t random_bits(std::uint64_t k) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15, first = 0xbf58476d1ce4e5b9, second = 0x94d049bb133111eb;
  std::uint64_t z = golden * (k + 1);
  z = first * (z ^ z >> 30), z = second * (z ^ z >> 27);
  return z ^ z >> 31;
}

// Uniform in [0, 1): a multiple of 2^-digits.
double uniform(std::uint64_t k, int digits) {
  return std::ldexp(static_cast<double>(random_bits(k) >> (64 - digits)), -digits);
}
constexpr int most_digits = 53;

// The binary digits of the fractions of a floating dtype.
int digits_of(DType part) {
  return part == DType::float64 ? 53 : part == DType::float32 ? 24 : part == DType::float16 ? 11 : 8;
}

// By the transform of Box and Muller (1958): the distance from the center, and the cosine of an angle.
double normal(std::uint64_t k) {
  const double far = -2 * std::log(1 - uniform(2 * k, most_digits)), turn = uniform(2 * k + 1, most_digits);
  return std::sqrt(far) * std::cos(2 * std::numbers::pi * turn);
}

using Draw = double (*)(std::uint64_t k, DType part);
double draw_uniform(std::uint64_t k, DType part) { return uniform(k, digits_of(part)); }
double draw_normal(std::uint64_t k, DType) { return normal(k); }

// rand and randn: size, out. A complex number has two numbers as its parts; those of randn have half of the variance.
bool accepts_numbers(const Call& call) { return find_reader<Complex>(call.out().dtype) && integers(call[0]); }
template <Draw draw, bool splits_variance>
bool run_numbers(const Step& step, Execution&) {
  Tensor& out = step.call.out();
  const auto sizes = step.call[0].items();
  Shape shape{static_cast<int>(sizes.size()), {}};
  if (!integers(step.call[0]) || sizes.size() > max_rank) return false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d]->integer < 0 || sizes[d]->integer > INT32_MAX) return false;
    shape.sizes[d] = static_cast<std::int32_t>(sizes[d]->integer);
  }
  const DType part = part_of(out.dtype);
  const bool is_drawn = is_floating(part);
  if ((!is_drawn && (shape.count() > 0 || !splits_variance)) || !resize(out, shape.span())) return false;
  const double scale = splits_variance && is_complex(out.dtype) ? std::sqrt(0.5) : 1;
  const Writing<Complex> y(out);
  Walk to(out);
  const auto n = static_cast<std::uint64_t>(out.count());
  for (std::uint64_t k = 0; k < n; ++k, to.next())
    y.set(to.place(), is_complex(out.dtype) ? Complex(scale * draw(2 * k, part), scale * draw(2 * k + 1, part))
                                            : Complex(draw(k, part)));
  return true;
}

// randperm: n, out. The numbers below n, each at the place of its random bits among those of all. The order is sorted
// in scratch memory.
bool accepts_permutation(const Call& call) {
  return is_number(call.out().dtype) && !call.out().unbounded && call.out().rank == 1;
}
const void* prepare_permutation(const Call& call, Stores& stores) {
  stores.scratch = std::max(stores.scratch, sizeof(std::int64_t) * static_cast<std::uint64_t>(call.out().declared[0]));
  return nullptr;
}
// Whether the dtype holds each number below n. PyTorch does not ask this of bfloat16.
bool counts_to(DType dtype, std::int64_t n) {
  const auto largest = static_cast<double>(n - 1);
  return n == 0 || dtype == DType::bfloat16 ||
         (stored_as(dtype, largest) == largest && largest <= std::ldexp(1, is_floating(dtype) ? digits_of(dtype) : 63));
}
bool run_permutation(const Step& step, Execution& execution) {
  Tensor& out = step.call.out();
  const std::int64_t n = step.call[0].integer;
  const std::int32_t sizes[] = {static_cast<std::int32_t>(n)};
  if (step.call[0].kind != ValueKind::integer || n < 0 || n > INT32_MAX || !counts_to(out.dtype, n) ||
      !resize(out, sizes))
    return false;
  auto* order = reinterpret_cast<std::int64_t*>(execution.scratch.data());
  for (std::int64_t k = 0; k < n; ++k) order[k] = k;
  std::sort(order, order + n, [](std::int64_t a, std::int64_t b) {
    return random_bits(static_cast<std::uint64_t>(a)) < random_bits(static_cast<std::uint64_t>(b));
  });
  const auto set = [&](const auto& y) {
    for (std::int64_t k = 0; k < n; ++k) y.set(order[k], static_cast<double>(k));
    return true;
  };
  return set(Writing<double>(out));
}

// native_dropout: input, p, train, out, mask. Without train, each element is kept as it is.
bool accepts_dropout(const Call& call) {
  return call[0].is_tensor() && call[3].is_tensor() && call[4].is_tensor() &&
         find_reader<Complex>(call.tensor(0).dtype) && call.tensor(3).dtype == call.tensor(0).dtype;
}
bool run_dropout(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor &out = call.tensor(3), &mask = call.tensor(4);
  const bool drops = (call[2].kind != ValueKind::boolean || call[2].boolean) && input.count() > 0;
  const double p = call[1].kind == ValueKind::integer ? static_cast<double>(call[1].integer) : call[1].real;
  if (drops && (!is_floating(part_of(input.dtype)) || !(p >= 0 && p <= 1))) return false;
  if (mask.dtype != (input.count() > 0 ? DType::boolean : input.dtype) || !can_have(mask, shape_of(input)) ||
      !resize(out, input.shape()))
    return false;
  resize(mask, input.shape());
  const double scale = !drops ? 1 : p == 1 ? 0 : 1 / (1 - p);
  return with_number(input.dtype, [&]<class T>() {
    const Reading<T> x(input, input.dtype);
    const Writing<T> y(out);
    Walk from(input), to(out), to_mask(mask);
    const auto n = static_cast<std::uint64_t>(input.count());
    for (std::uint64_t k = 0; k < n; ++k, from.next(), to.next(), to_mask.next()) {
      const bool is_kept = !drops || uniform(k, most_digits) >= p;
      mask.elements<std::uint8_t>()[to_mask.place()] = is_kept;
      const T now = x[from.place()];
      y.set(to.place(), drops ? product(product(now, T(is_kept)), T(scale)) : now);
    }
    return true;
  });
}

}  // namespace

constexpr Kernel rand{"rand", accepts_numbers, nullptr, run_numbers<draw_uniform, false>};
constexpr Kernel randn{"randn", accepts_numbers, nullptr, run_numbers<draw_normal, true>};
constexpr Kernel randperm{"randperm", accepts_permutation, prepare_permutation, run_permutation};
constexpr Kernel native_dropout{"native_dropout", accepts_dropout, nullptr, run_dropout};

}  // namespace assay::optimized
