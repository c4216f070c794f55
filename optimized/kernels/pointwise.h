#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"

// Elementwise operations: each result is computed from one, two or three numbers.
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

// The types of elements: floats, integers of 64 bits, which wrap, and bytes, which are true where they are not 0.
enum class Element : std::uint8_t { f32, i64, boolean };
constexpr std::size_t bytes_of(Element e) { return e == Element::f32 ? 4 : e == Element::i64 ? 8 : 1; }

// Computes n results from n elements of each operand. Elements lie one after another. `out` may be an operand whose
// elements have the size of the results. There are three parameters of the type of the elements; each begins at a
// multiple of parameter_bytes.
constexpr std::size_t parameter_bytes = 8, most_parameters = 3;
using PointwiseRow = void (*)(const void* const* operands, void* out, std::size_t n, const void* parameters);

struct PointwiseFormula {
  PointwiseRow row = nullptr;  // null: the operation is not defined on these elements
  std::uint8_t operands = 0;
  bool gives_truth = false;  // results are bytes, 1 or 0, of whatever type the elements are
};

// One function for each operation and type of elements, so that a selective build links only the formulas that its
// kernels need.
using FindFormula = PointwiseFormula (*)(InstructionSet);
template <Operation, Element>
PointwiseFormula find_formula(InstructionSet);
template <Operation, Element>
bool has_formula();

}  // namespace assay::kernels
