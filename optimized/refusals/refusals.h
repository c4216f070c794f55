#pragma once

#include "optimized/api/assay.h"
#include "optimized/runtime/kernel.h"
#include "reference/budget.h"

// Kernels do not know the rules of operators: a kernel that cannot do a call cannot tell which rule the call breaks, if
// it breaks one. The runtime alone refuses such a call as invalid, by rule I10 or I11. If no kernel accepts the call,
// it refuses the method as unsupported when the method is made, by rule I4. With this library, which has the reference,
// the call is refused when it runs, by the rule that it breaks and with the rule's outcome and sentence. The place is
// the same. The library computes no call of a program. It uses the heap and exceptions, within a budget; a deployable
// build leaves it out.
namespace assay::optimized {

// Sets the fault that the reference has for a call. It accepts every call and does none.
extern const Kernel refusing_kernel;

const assay_refusals* reference_refusals();  // the same for clients of the C interface

// During the lifetime of an object, what is done for the refusals of this thread is charged to its budget.
class RefusalBudget {
 public:
  explicit RefusalBudget(const Budget& budget);
  ~RefusalBudget();
  RefusalBudget(const RefusalBudget&) = delete;
  RefusalBudget& operator=(const RefusalBudget&) = delete;
};

}  // namespace assay::optimized
