#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

// The steps of a row as kernels/steps.h defines them, by plain loops.
namespace assay::kernels {

// One operation of floats: a double holds the exact result or rounds to the same float.
inline float rounded(double x) { return static_cast<float>(x); }

struct RowOfSteps {
  std::vector<std::int64_t> steps;
  float k = 1;
  bool has_nan = false;
};

inline RowOfSteps steps_of(std::span<const float> x) {
  RowOfSteps row{std::vector<std::int64_t>(x.size())};
  float least = 0, most = 0;
  for (const float e : x) least = std::min(least, e), most = std::max(most, e), row.has_nan |= std::isnan(e);
  const float range = rounded(double{most} - least), k = row.k = range == 0 ? 1 : rounded(255.0 / range);
  const float a = rounded(double{least} * k), b = rounded(double{most} * k);
  const bool is_low = rounded(double{rounded(a - 128.0)} + rounded(b + 127.0)) > 0;
  const float exact = is_low ? rounded(-128.0 - a) : rounded(127.0 - b);
  row.has_nan |= std::isnan(exact);
  const float z = std::nearbyint(std::clamp(exact, -128.0f, 127.0f));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float scaled = rounded(double{x[i]} * k);
    row.has_nan |= std::isnan(scaled);
    if (!row.has_nan) row.steps[i] = static_cast<std::int64_t>(std::nearbyint(std::clamp(scaled, -128 - z, 127 - z)));
  }
  return row;
}

}  // namespace assay::kernels
