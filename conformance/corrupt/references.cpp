#include "conformance/corrupt/references.h"

#include <algorithm>
#include <utility>

namespace assay::corrupt {
namespace {

constexpr std::pair<std::string_view, std::string_view> references[] = {
    {"ExecutionPlan.inputs", "values"},
    {"ExecutionPlan.outputs", "values"},
    {"Chain.inputs", "values"},
    {"Chain.outputs", "values"},
    {"KernelCall.op_index", "operators"},
    {"KernelCall.args", "values"},
    {"DelegateCall.delegate_index", "delegates"},
    {"DelegateCall.args", "values"},
    {"MoveCall.move_from", "values"},
    {"MoveCall.move_to", "values"},
    {"JumpFalseCall.cond_value_index", "values"},
    {"JumpFalseCall.destination_instruction", "instructions"},
    {"FreeCall.value_index", "values"},
    {"IntList.items", "values"},
    {"TensorList.items", "values"},
    {"OptionalTensorList.items", "values"},
    {"AllocationDetails.memory_id", "non_const_buffer_sizes"},
    {"NonConstBufferDevice.buffer_idx", "non_const_buffer_sizes"},
    {"ExtraTensorInfo.mutable_data_segments_idx", "mutable_data_segments"},
    {"BackendDelegateDataReference.index", "segments"},
    {"SubsegmentOffsets.segment_index", "segments"},
    {"NamedData.segment_index", "segments"},
};

}  // namespace

std::string_view list_indexed_by(std::string_view field) {
  const auto* found = std::ranges::find(references, field, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(references) ? std::string_view() : found->second;
}

}  // namespace assay::corrupt
