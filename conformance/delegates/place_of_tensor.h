#pragma once

#include <cstdint>
#include <utility>

#include "conformance/inspect/listing.h"
#include "format/flow_places.h"

namespace assay::delegates {

// The memory in which a plan places a tensor: a memory id and an offset; a tensor without planned memory has a place of
// its own. Two tensors at the same place have the same elements while both are in use: exporters place a view of fixed
// sizes where its base is, and no instruction writes it.
using PlaceOfTensor = std::pair<Int, std::uint64_t>;
inline PlaceOfTensor place_of_tensor(const pte::ExecutionPlan& plan, Int tensor) {
  const pte::Tensor* t = inspect::tensor_at(plan, tensor);
  if (!t || !t->allocation_info()) return {-1, static_cast<std::uint64_t>(tensor)};
  return {t->allocation_info()->memory_id(), format::planned_offset(*t->allocation_info())};
}

}  // namespace assay::delegates
