#pragma once

#include <string>
#include <vector>

#include "conformance/inspect/listing.h"

// The use of planned memory over time. Time is the number of an instruction, through all chains of a method.
namespace assay {

struct Tenant {
  std::uint32_t value;  // index of the tensor
  std::uint32_t first,
      last;            // instructions; inputs and state live from the first one on, outputs and state to the last one
  bool inherits;       // it is read before it is written: an alias of an earlier tenant
  double offset, end;  // bytes; doubles, since an invalid program may have any number
};

struct MemoryUse {
  std::uint32_t memory = 0;
  Int bytes = 0;             // that the program plans
  Buffer<Tenant> tenants{};  // by first instruction
  double most = 0;           // the most bytes in use at one time, and the first instruction at which they are
  Int most_at = 0;
};

// The use of each memory except the reserved memory 0. Charges work and memory to the budget of the scope.
Buffer<MemoryUse> memory_use(const pte::ExecutionPlan& plan);

// Whether the tensor is state, which has a name or an initial value and keeps its content between executions.
bool is_state(const pte::Tensor& tensor);

// The bytes of a tensor's first sizes; 0 if the sizes are invalid.
double byte_count(int scalar_type, std::span<const std::int32_t> sizes);
template <class Table>
double byte_count(const Table& tensor) {
  return byte_count(tensor.scalar_type(), format::items(tensor.sizes()));
}

// The indices of the largest tenants, at most twelve, by first instruction.
std::vector<std::size_t> largest_tenants(const MemoryUse& use);

// A picture of at most 100 columns: time from left to right, addresses from bottom to top. The largest tenants are A,
// B,
// ...; the other tenants are small letters, which repeat. A cell shows the tenant that holds most of its instructions
// and addresses.
std::string picture(const MemoryUse& use, Int instructions);

}  // namespace assay
