#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/testees/library.h"

namespace assay {

// What a tensor of an out argument is before the call; its memory is exactly what these sizes take.
struct TensorPlan {
  DType dtype = DType::float32;
  Dims sizes;
  Dims dim_order;
};

// For each out argument its tensors: one of a Tensor, any number of a Tensor[], none of a number, which needs no plan.
using OutPlan = std::vector<std::vector<TensorPlan>>;

// The plan that gives every out the dtype, sizes and dim order of the tensor that stands in its place: of a call that
// the reference has answered, the expected results'.
OutPlan plan_outs(const Operator& op, std::span<const Value> arguments);

// What was seen of one call. Outs are counted through: a Tensor[] is as many outs as it has tensors.
struct Observation {
  Reply reply;
  std::vector<Tensor> outs;   // as the first run left them; empty unless the reply is ok and nothing is damaged
  Int unwritten = 0;          // elements of outs that were never written
  int unwritten_out = 0;      // where the first of them is: which out,
  Int unwritten_element = 0;  // and which element in memory order
  std::string damaged;        // what was written outside the tensors, empty when nothing was
  std::string changed_input;  // name of an input that was written to, empty when none was
  bool differs = false;       // a second run of the same call replied or wrote something else
  double seconds = 0;         // of the first run
};

// Calls the library: once, and a second time with another poison in the outs if the first reply was ok. Arguments follow
// the schema; what stands in the places of out arguments is not looked at. Throws what the library throws.
Observation observe(KernelLibrary& library, const Operator& op, std::span<const Value> arguments, const OutPlan& outs);

}  // namespace assay
