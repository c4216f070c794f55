#pragma once

namespace assay::xnnpack {

// Which graph of a payload computes its results. `literal` is the graph as the payload states it. `folded` is the graph
// that XNNPACK makes of it when it loads the payload: a Clamp becomes the bounds of the node that computes its input,
// so that an 8-bit result is rounded once, and a Multiply of a value by itself becomes a Square. A convolution of
// single pixels becomes a fully connected layer: images that are quantized row by row for it have pixels as rows.
enum class Form { folded, literal };

}  // namespace assay::xnnpack
