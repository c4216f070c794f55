#pragma once

#include <vector>

#include "optimized/api/assay.h"
#include "optimized/runtime/backend.h"
#include "optimized/runtime/kernel.h"
#include "reference/budget.h"
#include "reference/runtime/delegate.h"

// The reference does the calls that have no kernel yet. It uses the heap and exceptions, bounded by a budget. It is a
// library of its own, which a deployable build leaves out.
namespace assay::optimized {

// Accepts every call of an operator of the specification, and refuses it as the reference does.
extern const Kernel reference_kernel;

const assay_fallback* reference_fallback();  // the same, for clients of the C interface

// Backends of the reference, by their ids, as backends of the optimized runtime. A program that is a payload may
// delegate to the same backends. These outlive the methods.
class ReferenceBackends {
 public:
  explicit ReferenceBackends(Backends backends);
  ReferenceBackends(const ReferenceBackends&) = delete;
  ReferenceBackends& operator=(const ReferenceBackends&) = delete;

  std::span<const Backend> all() const { return all_; }
  const assay_backend* data() const;  // the same, for clients of the C interface
  std::size_t size() const { return all_.size(); }

  // What makes the delegates of one backend.
  struct Maker {
    const MakeDelegate& make;
    const Backends& all;
  };

 private:
  Backends backends_;
  std::vector<Maker> makers_;
  std::vector<Backend> all_;
};

const ReferenceBackends& reference_backends();  // the reference's own

// While it lives, the calls of this thread are charged to this budget.
class FallbackBudget {
 public:
  explicit FallbackBudget(const Budget& budget);
  ~FallbackBudget();
  FallbackBudget(const FallbackBudget&) = delete;
  FallbackBudget& operator=(const FallbackBudget&) = delete;
};

}  // namespace assay::optimized
