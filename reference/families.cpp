#include "reference/families.h"

namespace assay::families {

Rows rows(const Dims& sizes, const Dims& dims) {
  Dims outer, inner, outer_sizes, inner_sizes;  // outer: dimensions that are kept; inner: dimensions that are gathered
  for (Int d = 0; d < sizes.size(); ++d) {
    const bool gathered = std::ranges::find(dims, d) != dims.end();
    (gathered ? inner : outer).push_back(d);
    (gathered ? inner_sizes : outer_sizes).push_back(sizes[d]);
  }
  Rows all{count(inner_sizes), count(outer_sizes), {}};
  all.source.reserve(static_cast<std::size_t>(all.length * all.number));
  Dims at = Dims::filled(sizes.size(), 0);
  for (const Dims& o : indices(outer_sizes)) {
    for (int k = 0; k < o.size(); ++k) at[outer[k]] = o[k];
    for (const Dims& i : indices(inner_sizes)) {
      for (int k = 0; k < i.size(); ++k) at[inner[k]] = i[k];
      all.source.push_back(offset(sizes, at));
    }
  }
  return all;
}

}  // namespace assay::families
