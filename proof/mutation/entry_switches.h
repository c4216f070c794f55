#pragma once

#include <iterator>

#include "dtype_lists.gen.h"
#include "proof/mutation/mutant.h"
#include "reference/dtype.h"
#include "reference/words/rules.h"

// The switches in mutated wrappers of entries (entries.py).
namespace assay::mutation {

// What a limit is off by: 1 in the mutant of this number, -1 in the next.
inline Int off_by(int mutant) { return Int{on(mutant)} - Int{on(mutant + 1)}; }

// The set; in the mutant `first + k` with the k-th of dtype_orders::recorded added or removed.
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
