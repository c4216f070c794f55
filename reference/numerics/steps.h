#pragma once

#include <span>

#include "reference/real.h"

// Steps that kernels make in more than one way. proof/precision compiles the reference with another file of this name.
namespace assay::steps {

// (x - mean) scale
inline Real difference(Real x, Real mean, Real scale) { return (x - mean) * scale; }

// (x - mean) rstd weight + bias
inline Real normal(Real x, Real mean, Real rstd, Real weight, Real bias) { return (x - mean) * rstd * weight + bias; }

// Puts the mean of x and the sum of (x - mean)^2 into others that were made one after the other.
inline void moments(std::span<const Real>, Real&, Real&) {}

}  // namespace assay::steps
