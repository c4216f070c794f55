#pragma once

#include <new>

#include "optimized/runtime/fault.h"
#include "reference/budget.h"
#include "reference/fault.h"

namespace assay::optimized {

Budget budget_of_this_thread();

// Calls f(Budget). An exception that f throws is turned into the fault.
template <class F>
bool caught(Fault& fault, F f) {
  try {
    const Budget budget = budget_of_this_thread();
    const Budget::Scope scope(budget, "a call");
    f(budget);
    return true;
  } catch (const assay::Fault& e) {
    fault.set(e.outcome, e.rule, e.place, e.message);
  } catch (const std::bad_alloc&) {
    fault.set(Outcome::exhausted, "limits.memory", "", "no memory left");
  }
  return false;
}

}  // namespace assay::optimized
