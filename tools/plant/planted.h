#pragma once

#include <span>

#include "dtype_lists.gen.h"
#include "reference/dtype.h"
#include "reference/words/rules.h"
#include "tools/plant/scores.h"

// Faults in what entries of the spec state, one of which may be there at a time; plantgen.py writes them.
namespace assay {

// Of operators; their kinds are "rule", "condition", "limit", "dtypes", "dtype", "layout".
std::span<const plant::Planted> planted_faults();

inline int active_fault = -1;  // a position in planted_faults(); -1: none

inline bool planted(int fault) { return active_fault == fault; }

// What a limit is off by: one more, or by the next fault one less.
inline Int planted_step(int fault) { return Int{planted(fault)} - Int{planted(fault + 1)}; }

// The set, by one of as many faults with a dtype more or less.
inline DTypeSet planted_set(int first, DTypeSet set) {
  const int k = active_fault - first;
  return k >= 0 && k < static_cast<int>(dtype_orders::recorded.size())
             ? set ^ sets::of(dtype_orders::recorded[static_cast<std::size_t>(k)])
             : set;
}

}  // namespace assay
