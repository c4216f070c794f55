#include "reference/runtime/storage.h"

#include <algorithm>

namespace assay {

std::shared_ptr<Memory> Memory::made(Kind kind, std::span<std::byte> bytes) {
  return std::allocate_shared<Memory>(Charged<Memory>(), Key(), kind, bytes);
}

std::shared_ptr<Memory> Memory::planned(std::size_t size, std::byte fill) {
  const auto memory = made(Kind::planned, {});
  memory->bytes_ = memory->allocated_ = Buffer<std::byte>(size, fill);
  return memory;
}

std::shared_ptr<Memory> Memory::own() { return made(Kind::own, {}); }
std::shared_ptr<Memory> Memory::supplied(std::span<std::byte> bytes) { return made(Kind::supplied, bytes); }

std::shared_ptr<Memory> Memory::constant(std::span<const std::byte> bytes) {
  // Never written to: prepare() refuses.
  return made(Kind::constant, {const_cast<std::byte*>(bytes.data()), bytes.size()});
}

std::size_t Memory::written_now(std::size_t at) const {
  return is_constant() ? bytes_.size() - at : defined_.written(at);
}

std::size_t Memory::written(std::size_t at) const {
  const std::scoped_lock lock(busy_);
  return written_now(at);
}

Buffer<std::byte> Memory::read(std::size_t at, std::size_t n) const {
  const std::scoped_lock lock(busy_);
  if (n > written_now(at))
    throw broken("T16", {}, "reads ", n, " bytes, but the write that begins there has ", written_now(at),
                 " bytes left");
  if (n == 0) return {};
  const auto from = bytes_.subspan(at, n);
  return {from.begin(), from.end()};
}

void Memory::prepare(std::size_t at, std::size_t n, std::size_t writes) {
  const std::scoped_lock lock(busy_);
  if (is_constant()) throw broken("T15", {}, "the tensor is a constant and cannot be written to");
  defined_.make_room(writes);
  if (kind_ != Kind::own || at + n <= bytes_.size()) return;
  Buffer<std::byte> larger(at + n);
  std::ranges::copy(bytes_, larger.begin());
  bytes_ = allocated_ = std::move(larger);
}

void Memory::write(std::size_t at, std::span<const std::byte> bytes, By by) noexcept {
  const std::scoped_lock lock(busy_);
  std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  defined_.write(at, bytes.size(), by);
}

void Memory::write_part(std::size_t at, std::size_t from, std::span<const std::byte> bytes) noexcept {
  const std::scoped_lock lock(busy_);
  std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(at + from));
  defined_.write(at, std::max(from + bytes.size(), defined_.written(at)), By::instruction);
}

void Memory::begin_as_zeros(std::size_t at, std::size_t n) {
  prepare(at, n, 1);
  const std::scoped_lock lock(busy_);
  std::ranges::fill(bytes_.subspan(at, n), std::byte{0});
  defined_.write(at, n, By::state);
}

void Memory::forget(std::size_t at) noexcept {
  const std::scoped_lock lock(busy_);
  defined_.forget(at);
  if (kind_ == Kind::own) bytes_ = allocated_ = Buffer<std::byte>();
}

void Memory::begin() noexcept {
  const std::scoped_lock lock(busy_);
  defined_.begin();
}

bool is_whole(const Tensor& t) {
  const auto elements = static_cast<std::size_t>(count(t.sizes));
  return std::ranges::all_of(t.sizes, [](Int n) { return n >= 0; }) && is_dim_order(t.dim_order, t.rank()) &&
         t.bytes.size() == elements * static_cast<std::size_t>(info(t.dtype).bytes);
}

void HeldTensor::begin() {
  storage = home;
  if (!lasts) sizes = declared;
}

void HeldTensor::check_sizes(const Dims& to, RuleId rule, const Place& place) const {
  if (to.size() != declared.size())
    throw broken(rule, place, "has sizes ", to, ", but must have ", declared.size(), " dimensions as ", declared);
  if (dynamism == Dynamism::fixed && to != declared)
    throw broken(rule, place, "has sizes ", to, ", but must have ", declared);
  for (int d = 0; dynamism == Dynamism::bounded && d < to.size(); ++d)
    if (to[d] > declared[d])
      throw broken(rule, place, "has sizes ", to, ", but dimension ", d, " has the upper bound ", declared[d]);
}

Tensor HeldTensor::read() const { return {dtype, sizes, dim_order, storage.memory->read(storage.at, bytes())}; }

Tensor HeldTensor::prepare(Tensor value, std::size_t writes) const {
  check_sizes(value.sizes, "T24", {nullptr, "result"});
  if (value.dim_order != dim_order) value = arranged(value, dim_order);
  prepare(value.bytes.size(), writes);
  return value;
}

void HeldTensor::prepare(std::size_t n, std::size_t writes) const {
  if (n > storage.bound) throw broken("T24", {}, "the tensor has ", storage.bound, " bytes of memory, but needs ", n);
  storage.memory->prepare(storage.at, n, writes);
}

void HeldTensor::write(const Tensor& prepared, Memory::By by) noexcept {
  sizes = prepared.sizes;
  storage.memory->write(storage.at, prepared.bytes, by);
}

}  // namespace assay
