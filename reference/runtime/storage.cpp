#include "reference/runtime/storage.h"

#include <cstring>

namespace assay {

Block allocate(std::size_t bytes, const Budget& budget, std::string_view what) {
  const Budget::Scope scope(budget, what);
  const auto memory = std::make_shared<Buffer<std::byte>>(bytes);
  return Block(memory, memory->data());
}

Storage Storage::constant(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  // Never written to: write() refuses.
  return Storage(Block(std::const_pointer_cast<void>(owner), const_cast<std::byte*>(bytes.data())), bytes.size(),
                 Kind::constant);
}

Storage Storage::own(std::size_t bound, const Budget& budget) {
  Storage s(nullptr, 0, Kind::own);
  s.bound_ = bound;
  s.budget_ = budget;
  return s;
}

std::span<const std::byte> Storage::read(std::size_t n) const {
  if (n > size_)
    throw broken("T16", {}, "the tensor has ", size_, " bytes of memory, but ", n,
                 " are read: nothing was written to it before");
  return {block_.get(), n};
}

std::span<std::byte> Storage::write(std::size_t n) {
  if (is_constant()) throw broken("T15", {}, "the tensor is a constant and cannot be written to");
  if (n > bound_) throw broken("T24", {}, "the tensor has ", bound_, " bytes of memory, but needs ", n);
  if (n > size_) {
    const Block larger = allocate(n, *budget_, "a tensor");
    if (size_ > 0) std::memcpy(larger.get(), block_.get(), size_);
    block_ = larger, size_ = n;
  }
  return {block_.get(), n};
}

void Storage::release() {
  if (is_own()) block_ = nullptr, size_ = 0;
}

void HeldTensor::check_sizes(const Dims& to, RuleId rule, const Place& place) const {
  if (to.size() != declared.size())
    throw broken(rule, place, "has sizes ", to, ", but must have ", declared.size(), " dimensions as ", declared);
  if (dynamism == Dynamism::fixed && to != declared)
    throw broken(rule, place, "has sizes ", to, ", but must have ", declared);
  if (dynamism == Dynamism::bounded && count(to) > count(declared))
    throw broken(rule, place, "has sizes ", to, ", more elements than the bound ", declared);
}

void HeldTensor::resize(const Dims& to) {
  check_sizes(to, "T24", {nullptr, "result"});
  sizes = to;
}

Tensor HeldTensor::read() const {
  const auto from = storage->read(bytes());
  return {dtype, sizes, dim_order, {from.begin(), from.end()}};
}

void HeldTensor::write(const Tensor& value) {
  resize(value.sizes);
  const Tensor own = arranged(value, dim_order);
  std::ranges::copy(own.bytes, storage->write(own.bytes.size()).begin());
}

}  // namespace assay
