#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"

// Elementwise operations. Each result is computed from one, two or three numbers.
namespace assay::kernels {

// The name of an operation, such as "sinh", as a template argument. pointwise.cpp has a formula for each.
struct Operation {
  template <std::size_t n>
  constexpr Operation(const char (&text)[n]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(text, n, name);
  }
  constexpr bool operator==(const Operation&) const = default;

  char name[16] = {};
};

// The types of elements: floats; integers of 64 bits, which wrap; bytes, which are true if they are not 0; and doubles.
// Doubles are computed for the slowest instruction set alone.
enum class Element : std::uint8_t { f32, i64, boolean, f64 };
constexpr std::size_t element_types = 4;
constexpr std::size_t bytes_of(Element e) { return e == Element::f32 ? 4 : e == Element::boolean ? 1 : 8; }

// Computes n results from n elements of each operand. Elements are contiguous. `out` may be an operand if its elements
// have the size of the results. There are three parameters of the element type; parameter i begins at byte i *
// parameter_bytes.
constexpr std::size_t parameter_bytes = 8, most_parameters = 3;
using PointwiseRow = void (*)(const void* const* operands, void* out, std::size_t n, const void* parameters);

struct PointwiseFormula {
  PointwiseRow row = nullptr;  // null if the operation is not defined for this element type
  std::uint8_t operands = 0;
  bool gives_truth = false;  // whether results are bytes, 1 or 0, for every element type
};

// A function that returns a formula. Each operation and element type has its own function, so that a selective build
// links only the formulas that its kernels need.
using FindFormula = PointwiseFormula (*)(InstructionSet);
template <Operation, Element>
PointwiseFormula find_formula(InstructionSet);
template <Operation, Element>
bool has_formula();

}  // namespace assay::kernels
