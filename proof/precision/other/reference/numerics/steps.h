#pragma once

#include <span>

#include "reference/real.h"

// Found before the reference's own header of this name.
namespace assay::steps {

inline Real difference(Real x, Real mean, Real scale) {
  precision::met.differences = true;
  return precision::manner.apart ? x * scale - mean * scale : (x - mean) * scale;
}

inline Real normal(Real x, Real mean, Real rstd, Real weight, Real bias) {
  precision::met.differences = true;
  if (!precision::manner.apart) return (x - mean) * rstd * weight + bias;
  const Real scale = rstd * weight;
  return x * scale + (bias - mean * scale);
}

inline void moments(std::span<const Real> x, Real& mean, Real& squares) {
  precision::met.means = true;
  if (!precision::manner.running) return;
  mean = 0, squares = 0;
  Real n = 0;
  for (const Real v : x) {
    const Real apart = v - mean;
    mean += apart / ++n;
    squares += apart * (v - mean);
  }
}

}  // namespace assay::steps
