#pragma once

#include <vector>

namespace assay::bench {

// The number below which the share `part` of the values lies, interpolated between the two nearest values. 0 if there
// are no values.
double quantile(std::vector<double> values, double part);

double geometric_mean(const std::vector<double>& values);  // requires positive numbers; 0 if there are none

// A summary of many measured times.
struct Spread {
  double median = 0, p25 = 0, p75 = 0, p90 = 0;
};
Spread spread_of(const std::vector<double>& values);

}  // namespace assay::bench
