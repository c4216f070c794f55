#pragma once

#include <span>

#include "reference/real.h"

// Steps that kernels may compute in more than one way. proof/precision compiles the reference with another file of this
// name, which computes them in the other ways.
namespace assay::steps {

// (x - mean) scale
inline Real difference(Real x, Real mean, Real scale) { return (x - mean) * scale; }

// (x - mean) rstd weight + bias
inline Real normal(Real x, Real mean, Real rstd, Real weight, Real bias) { return (x - mean) * rstd * weight + bias; }

// Leaves the mean of x and the sum of (x - mean)^2 unchanged. The version in proof/precision replaces them by the
// results of a running computation.
inline void moments(std::span<const Real>, Real&, Real&) {}

}  // namespace assay::steps
