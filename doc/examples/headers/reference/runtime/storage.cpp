#include <reference/runtime/storage.h>

// Reading a tensor fails until it is written.
int main() {
  const auto memory = assay::Memory::planned(64, std::byte{});
  const assay::Storage place{memory, 0, 16};
  assay::HeldTensor tensor{.declared = {4}, .sizes = {4}, .dim_order = {0}, .home = place, .storage = place};
  const bool before = tensor.is_written();
  tensor.write(tensor.prepare(assay::make(assay::DType::float32, {4})), assay::Memory::By::caller);
  return !before && tensor.is_written() && tensor.read().count() == 4 ? 0 : 1;
}
