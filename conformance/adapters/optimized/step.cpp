#include "conformance/adapters/optimized/step.h"

#include "optimized/runtime/table.h"
#include "reference/fault.h"

namespace assay::adapters {

using namespace optimized;

LoneStep::LoneStep(const optimized::Kernel& kernel, const optimized::Call& call, std::size_t spare)
    : step_{kernel.run, nullptr, call, 0, 0, kernel.name, false, optimized::find_loop(call)}, kernel_(kernel) {
  format::Workspace counting_tables(state_), counting_prepared;
  optimized::Packed counting_packed;
  const optimized::Stores counted = prepare(counting_tables, counting_packed, counting_prepared);
  packed_.emplace(counting_packed.bytes()), prepared_.emplace(counting_prepared.most() - spare);
  scratch_.emplace(counted.scratch);
  format::Workspace tables(state_), prepared(prepared_->bytes());
  optimized::Packed packed = optimized::Packed::in(packed_->bytes());
  const optimized::Stores made = prepare(tables, packed, prepared);
  if (made.refused) throw assay::Fault(Outcome::exhausted, "V4", made.refused);
  if (!tables.has_room())
    throw assay::Fault(Outcome::exhausted, "V4", "the state of the kernel takes more than 4096 bytes");
}

optimized::Stores LoneStep::prepare(format::Workspace& tables, optimized::Packed& packed, format::Workspace& prepared) {
  optimized::Stores stores{tables, packed};
  stores.prepared = &prepared;
  if (scratch_) stores.lent = scratch_->bytes();
  step_.state = kernel_.prepare ? kernel_.prepare(step_.call, stores) : nullptr;
  return stores;
}

bool LoneStep::run(optimized::Fault& fault, const kernels::Threads& threads) {
  optimized::Execution run;
  run.scratch = scratch_->bytes(), run.threads = threads, run.fault = &fault;
  return step_.execute(run);
}

}  // namespace assay::adapters
