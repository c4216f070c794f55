#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"

// What one, two or three numbers give, for many of them at once.
namespace assay::kernels {

enum class Pointwise : std::uint8_t {
  // Two numbers in; a and b below. The parameter is alpha, of differences its opposite.
  add,   // a + alpha b
  sub,   // a + alpha b
  rsub,  // b + alpha a
  mul,
  div,
  div_trunc,  // without its fraction
  div_floor,  // the largest integer not above
  fmod,       // of the sign of a
  remainder,  // of the sign of b
  pow,
  atan2,
  minimum,  // or NaN where either is
  maximum,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  shift_left,
  shift_right,
  // Compared: 1 or 0, a byte.
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_xor,
  // One number in.
  logical_not,
  isnan,
  isinf,
  bitwise_not,
  abs,
  neg,
  sign,
  floor,
  ceil,
  trunc,
  round,  // of two the even one
  relu,
  leaky_relu,  // the parameter times what is not above 0
  elu,         // of alpha, scale and input_scale
  clamp,       // to the first two parameters, of which none is NaN
  sqrt,
  rsqrt,
  reciprocal,
  square,
  cube,
  inverse_square,
  power,  // to the parameter, a double
  exp,
  expm1,
  log,
  log1p,
  log2,
  log10,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  sigmoid,
  gelu,
  gelu_tanh,
  // Three numbers in: a not below b, nor above c; or NaN where one is.
  clamp_between,
  // b where the first, a byte, is not 0, else c.
  where,
};
constexpr std::size_t pointwise_operations = static_cast<std::size_t>(Pointwise::where) + 1;

// What elements are: floats, integers of 64 bits, which wrap, or bytes that are true where they are not 0.
enum class Element : std::uint8_t { f32, i64, boolean };
constexpr std::size_t bytes_of(Element e) { return e == Element::f32 ? 4 : e == Element::i64 ? 8 : 1; }

constexpr bool gives_truth(Pointwise p) { return p >= Pointwise::eq && p <= Pointwise::isinf; }
constexpr int operands_of(Pointwise p) {
  return p <= Pointwise::logical_xor ? 2 : p >= Pointwise::clamp_between ? 3 : 1;
}

// n results of n elements of each operand, which lie one after another. `out` may be an operand of elements of its
// size. There are three parameters, of the type of the elements, each at the beginning of so many bytes.
constexpr std::size_t parameter_bytes = 8, most_parameters = 3;
using PointwiseRow = void (*)(const void* const* operands, void* out, std::size_t n, const void* parameters);

// Null: there is no such operation on these elements. Each is a function of its own, so that who asks for some does not
// carry the others.
using FindRow = PointwiseRow (*)(InstructionSet);
template <Pointwise, Element>
PointwiseRow find_row(InstructionSet);
template <Pointwise, Element>
bool has_row();

}  // namespace assay::kernels
