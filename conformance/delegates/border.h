#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/delegates/payload.h"
#include "conformance/hosts/calls.h"

// What programs give to their XNNPACK delegates.
namespace assay::delegates {

// One call of a delegate. The inputs are tensors of the payload: contiguous, in the order of their external ids.
struct DelegateCall {
  std::string method;
  std::uint32_t delegate;                  // the index of the delegate in the method's plan
  std::shared_ptr<const Payload> payload;  // charged to the budget of the calls
  bool is_dynamic;  // an argument is not static, so that the dims of the graph's values are upper bounds
  std::vector<Tensor> inputs;
};

// The calls of XNNPACK delegates that the reference makes in each of the program's calls. State is kept from one call
// to the next. Throws the Fault of a call that is refused, unless the call's `fails` is not empty.
std::vector<std::vector<DelegateCall>> delegate_calls(const ValidProgram& program,
                                                      std::span<const hosts::ProgramCall> calls,
                                                      const Budget& budget = {});

}  // namespace assay::delegates
