#pragma once

#include "reference/xnnpack/body.h"

// Quantized values. An 8-bit code q of a value with scale s and zero point z is the number (q - z) s. `rne` rounds
// half to even, and every float operation is rounded to float32.
namespace assay::xnnpack {

// The scale of a value, its zero point, and its smallest and largest code.
struct Codes {
  float scale;
  std::int32_t zero_point;
  Int least, most;
  DType dtype;
};
bool is_quantized(const Body& body, Id id);  // whether the elements are 8-bit codes
Codes codes_of(const Body& body, Id id);     // requires a quantized value
// The codes between the codes rne(clip(bound / s + z)) of the bounds.
Codes within(Codes codes, const OutputBounds& bounds);

// The steps q - z of codes, in this floating dtype.
Index steps(Body& body, Index codes, const Codes& from, DType dtype);
// The numbers (q - z) s of codes, in float32.
Index numbers(Body& body, Index codes, const Codes& from);
// The codes clip(rne(x * (1 / s)) + z) of numbers in float32.
Index quantize(Body& body, Index x, const Codes& to);
// The codes clip(rne(x) + z) of steps in float32.
Index shifted(Body& body, Index x, Codes to);
// Codes between the codes of the bounds; x itself if these are all codes.
Index clamp_codes(Body& body, Index x, const Codes& codes, const OutputBounds& bounds);

// Nodes of codes.
void quantized_unary(Body& body, Id input, Id output, const xnn::Node& node);
void quantized_binary(Body& body, const xnn::Binary& table, const xnn::Node& node);
void quantized_average(Body& body, const xnn::Unary& table, const xnn::Node& node);

}  // namespace assay::xnnpack
