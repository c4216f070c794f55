#pragma once

#include "optimized/api/assay.h"
#include "optimized/runtime/kernel.h"
#include "reference/budget.h"

// What has no kernel yet, done by the reference. It uses the heap and exceptions, bounded by a budget, so that it is a
// library of its own, which a deployable build leaves out.
namespace assay::optimized {

// Accepts every call of an operator of the specification; refuses it as the reference does.
extern const Kernel reference_kernel;

// Both for clients of the C interface.
const assay_fallback* reference_fallback();
const assay_backend* reference_backends(std::size_t& count);

// What the calls of this thread are charged to while it lives.
class FallbackBudget {
 public:
  explicit FallbackBudget(const Budget& budget);
  ~FallbackBudget();
  FallbackBudget(const FallbackBudget&) = delete;
  FallbackBudget& operator=(const FallbackBudget&) = delete;
};

// The demonstration backend, "ProgramBackend", by the reference.
extern const Backend program_backend;

}  // namespace assay::optimized
