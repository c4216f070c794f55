#pragma once

#include <string>
#include <vector>

#include "conformance/inspect/listing.h"

// Who holds which planned memory when. Time counts the instructions of a method, those of all chains one after the
// other.
namespace assay {

struct Tenant {
  std::uint32_t value;        // index of the tensor
  std::uint32_t first, last;  // instructions: inputs and state from the first on, outputs and state to the last
  bool inherits;              // it is read before it is written: another name for memory that an earlier tenant leaves
  double offset, end;         // bytes; as doubles, since a program that is not valid may say anything
};

struct MemoryUse {
  std::uint32_t memory = 0;
  Int bytes = 0;             // as the program plans it
  Buffer<Tenant> tenants{};  // the first to come first
  double most = 0;           // bytes in use at once, and the first instruction at which they are
  Int most_at = 0;
};

// Of each memory but the reserved one. Costs work and memory of the scope's budget.
Buffer<MemoryUse> memory_use(const pte::ExecutionPlan& plan);

// State keeps its content from one execution to the next: it has a name, or an initial value.
bool is_state(const pte::Tensor& tensor);

// How many bytes a tensor's first sizes take; 0 where they make no sense.
double byte_count(int scalar_type, std::span<const std::int32_t> sizes);
template <class Table>
double byte_count(const Table& tensor) {
  return byte_count(tensor.scalar_type(), format::items(tensor.sizes()));
}

// At most twelve, the largest tenants, by their place among them, the first to come first.
std::vector<std::size_t> largest_tenants(const MemoryUse& use);

// A picture of at most 100 columns: time from left to right, addresses from bottom to top. The largest tenants are A,
// B, ...;
// the others small letters again and again. Instructions and addresses that share a place show who holds most of it.
std::string picture(const MemoryUse& use, Int instructions);

}  // namespace assay
