#pragma once

#include <span>

#include "reference/real.h"

// Steps that kernels compute in more than one way. proof/precision compiles the reference with another file of this
// name.
namespace assay::steps {

// (x - mean) scale
inline Real difference(Real x, Real mean, Real scale) { return (x - mean) * scale; }

// (x - mean) rstd weight + bias
inline Real normal(Real x, Real mean, Real rstd, Real weight, Real bias) { return (x - mean) * rstd * weight + bias; }

// May replace the mean of x and the sum of (x - mean)^2 by those of a running computation, as proof/precision does.
// Here both stay as they are.
inline void moments(std::span<const Real>, Real&, Real&) {}

}  // namespace assay::steps
