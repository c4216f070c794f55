#pragma once

#include <iterator>

#include "dtype_lists.gen.h"
#include "proof/mutation/mutant.h"
#include "reference/dtype.h"
#include "reference/words/rules.h"

// The switches in mutated wrappers of entries (entries.py).
namespace assay::mutation {

// The error of a limit: 1 in the mutant with this number, -1 in the next mutant, else 0.
inline Int off_by(int mutant) { return Int{on(mutant)} - Int{on(mutant + 1)}; }

// Returns the set. In the mutant `first + k`, the k-th dtype of dtype_orders::recorded is added to the set or removed
// from it.
inline DTypeSet changed_set(int first, DTypeSet set) {
  const int k = active - first;
  return k >= 0 && k < std::ssize(dtype_orders::recorded)
             ? set ^ sets::of(dtype_orders::recorded[static_cast<std::size_t>(k)])
             : set;
}

}  // namespace assay::mutation

namespace assay::wrappers {
using mutation::changed_set;
using mutation::off_by;
using mutation::on;
}  // namespace assay::wrappers
