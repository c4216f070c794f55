#pragma once

#include <algorithm>
#include <span>

// Sorts references to the parts of a file by a key, so that a part can be found by its key and repeated keys can be
// found.
namespace assay::format {

// Sorts references by key. References with equal keys are sorted by comparing the references themselves.
template <class Reference>
void sort_by(std::span<Reference> references, auto key) {
  std::sort(references.begin(), references.end(), [&](const Reference& a, const Reference& b) {
    const auto order = key(a) <=> key(b);
    return order != 0 ? order < 0 : a < b;
  });
}

// The first reference with this key; null if there is none.
template <class Reference>
const Reference* find_by(std::span<const Reference> sorted, const auto& wanted, auto key) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), wanted,
                                   [&](const Reference& r, const auto& k) { return key(r) < k; });
  return at != sorted.end() && key(*at) == wanted ? &*at : nullptr;
}

// Calls tell(first, other) for each reference `other` whose key an earlier reference also has. `first` is the first
// reference with this key.
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
