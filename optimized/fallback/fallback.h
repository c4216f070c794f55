#pragma once

#include <vector>

#include "optimized/api/assay.h"
#include "optimized/runtime/backend.h"
#include "optimized/runtime/kernel.h"
#include "reference/budget.h"
#include "reference/runtime/delegate.h"

// Clients that have the reference give its sentences to the optimized runtime. The runtime computes each call by its
// kernels. Where it refuses a call, the reference tells the rule that the call breaks. This library uses the heap and
// exceptions, within a budget. A deployable build leaves it out.
namespace assay::optimized {

// Words refusals: sets the fault that the reference has for a call. Never computes a call of the program.
extern const Kernel reference_kernel;

const assay_fallback* reference_fallback();  // for clients of the C interface

// Backends of the reference as backends of the optimized runtime, with the same ids. A payload that is a program may
// delegate to the same backends. Requires that the object outlives the methods.
class ReferenceBackends {
 public:
  explicit ReferenceBackends(Backends backends);
  ReferenceBackends(const ReferenceBackends&) = delete;
  ReferenceBackends& operator=(const ReferenceBackends&) = delete;

  std::span<const Backend> all() const { return all_; }
  const assay_backend* data() const;  // for clients of the C interface
  std::size_t size() const { return all_.size(); }

  // The function that makes the delegates of one backend.
  struct Maker {
    const MakeDelegate& make;
    const Backends& all;
  };

 private:
  Backends backends_;
  std::vector<Maker> makers_;
  std::vector<Backend> all_;
};

const ReferenceBackends& reference_backends();  // the backends that the reference has

// During the lifetime of an object, the calls of this thread are charged to its budget.
class FallbackBudget {
 public:
  explicit FallbackBudget(const Budget& budget);
  ~FallbackBudget();
  FallbackBudget(const FallbackBudget&) = delete;
  FallbackBudget& operator=(const FallbackBudget&) = delete;
};

}  // namespace assay::optimized
