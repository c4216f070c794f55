#pragma once

#include <algorithm>
#include <span>

// References to things of a file in the order of a key, to find them and those that share one.
namespace assay::format {

// Those of the same key keep their own order.
template <class Reference>
void sort_by(std::span<Reference> references, auto key) {
  std::sort(references.begin(), references.end(), [&](const Reference& a, const Reference& b) {
    const auto order = key(a) <=> key(b);
    return order != 0 ? order < 0 : a < b;
  });
}

// The first of the key; null: none.
template <class Reference>
const Reference* find_by(std::span<const Reference> sorted, const auto& wanted, auto key) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), wanted,
                                   [&](const Reference& r, const auto& k) { return key(r) < k; });
  return at != sorted.end() && key(*at) == wanted ? &*at : nullptr;
}

// Tells of each that is not the first of its key, with the first.
template <class Reference>
void each_repeated(std::span<const Reference> sorted, auto key, auto tell) {
  std::size_t first = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (key(sorted[i]) == key(sorted[first]))
      tell(sorted[first], sorted[i]);
    else
      first = i;
}

}  // namespace assay::format
