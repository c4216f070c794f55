#include "conformance/sandbox/guarded_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <new>

#include "conformance/sandbox/pages.h"
#include "reference/fault.h"

namespace assay::sandbox {
namespace {

constexpr std::ptrdiff_t worth_populating = 4 * page_size;  // the bytes from which one more system call saves time
constexpr std::size_t strait = std::size_t{1} << 20, sea = std::size_t{1} << 36;

std::uint64_t mixed(std::uint64_t x) {  // the finalizer of splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

std::byte fill_byte(FillPattern pattern) { return pattern == FillPattern::first ? std::byte{0xBE} : std::byte{0x3E}; }

void fill(std::span<std::byte> memory, FillPattern pattern, DType dtype, std::uint64_t seed) {
  const bool first = pattern == FillPattern::first;
  for (std::size_t at = 0; at < memory.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t drawn = mixed(seed + at), word = first ? drawn : ~drawn;
    std::memcpy(&memory[at], &word, std::min(sizeof word, memory.size() - at));
  }
  if (dtype == DType::boolean) {
    for (std::byte& b : memory) b = first ? b | std::byte{1} : std::byte{0};
    return;
  }
  const auto element = static_cast<std::size_t>(info(dtype).bytes);
  for (std::size_t at = element - 1; at < memory.size(); at += element) {
    memory[at] = first ? std::byte{0xBF} : std::byte{0x3F};          // the sign and most bits of an exponent;
    if (dtype == DType::float64) memory[at - 1] |= std::byte{0xF0};  // a float64 exponent has four more bits
  }
}

GuardedRegions::GuardedRegions() : begin_(reserve(sea)), next_(begin_), retired_(begin_) {}

GuardedRegions::~GuardedRegions() { munmap(begin_, sea); }

void GuardedRegions::retire_earlier() {
  retire({retired_, next_});
  retired_ = next_;
}

bool GuardedRegions::was_retired(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  const std::byte* const end = present_ ? present_->begin_ - strait : next_;
  return std::greater_equal<>()(at, begin_) && std::less<>()(at, end);
}

bool GuardedRegions::let_pass(const void* address) { return present_ && present_->let_pass(address); }

GuardedMemory::GuardedMemory(GuardedRegions& regions, FillPattern pattern, Adjoins adjoins)
    : regions_(regions), pattern_(pattern), adjoins_(adjoins), begin_(regions.next_ + strait), open_(begin_) {
  regions_.present_ = this;
}

GuardedMemory::~GuardedMemory() {
  regions_.present_ = nullptr;
  regions_.next_ = open_ + page_size;  // the last guard page may be accessible
}

std::byte* GuardedMemory::add(std::string name, std::size_t bytes, Role role) {
  const bool shares = adjoins_ == Adjoins::none && !buffers_.empty() && buffers_.back().role == role;
  std::byte* const first = shares ? buffers_.back().behind.data() + red_zone : open_ + page_size;
  const auto left = static_cast<std::size_t>(regions_.begin_ + sea - first);
  constexpr std::size_t around = 2 * red_zone + 2 * page_size;
  if (left < around || bytes > left - around) throw std::bad_alloc();

  std::byte* data = first;
  std::size_t before = 0, behind = red_zone;
  if (adjoins_ == Adjoins::none) data = least_aligned(first + red_zone, promised_alignment), before = red_zone;
  if (adjoins_ == Adjoins::behind) {
    const std::size_t aligned = (bytes + promised_alignment - 1) / promised_alignment * promised_alignment;
    data = page_end(first + red_zone + aligned) - aligned, before = red_zone, behind = aligned - bytes;
  }
  std::byte* const end = page_end(std::max(data + bytes + behind, first + 1));
  std::byte* const fresh = shares ? open_ : first;
  if (end > fresh && !make_usable({fresh, end})) throw std::bad_alloc();
  if (end - fresh >= worth_populating) populate({fresh, end});
  open_ = end;
  const Buffer& made = buffers_.emplace_back(Buffer{
      std::move(name), role, data, bytes, {page_begin(first), end}, {data - before, before}, {data + bytes, behind}});
  write_red_zone(made.before, fill_byte(pattern_));
  write_red_zone(made.behind, fill_byte(pattern_));
  return data;
}

void GuardedMemory::make_inputs_read_only() {
  for (auto b = buffers_.begin(); b != buffers_.end();) {
    auto last = b;  // of the buffers that share pages with the next one
    while (last + 1 != buffers_.end() && (last + 1)->pages.data() < last->pages.data() + last->pages.size()) ++last;
    const bool read_only =
        b->role == Role::input && sandbox::make_read_only({b->pages.data(), last->pages.data() + last->pages.size()});
    for (; b != last + 1; ++b) b->read_only = read_only;
  }
}

GuardedMemory::Buffer* GuardedMemory::read_only_buffer(const std::byte* at) {
  Buffer* found = nullptr;
  for (Buffer& b : buffers_) {
    if (!b.read_only || std::less<>()(at, b.pages.data()) || !std::less<>()(at, b.pages.data() + b.pages.size()))
      continue;
    if (!found || !std::less<>()(at, b.before.data())) found = &b;
  }
  return found;
}

std::optional<std::string> GuardedMemory::damage() const {
  for (const Buffer& b : buffers_) {
    const auto in = [&](Damage::Kind kind, std::span<const std::byte> zone) {
      return damage_of_red_zone({kind, b.data, b.bytes}, zone, fill_byte(pattern_));
    };
    if (const auto found = in(Damage::Kind::before, b.before)) return describe(*found, b.name);
    if (const auto found = in(Damage::Kind::behind, b.behind)) return describe(*found, b.name);
  }
  return std::nullopt;
}

std::string GuardedMemory::describe_trespass() const {
  const auto& [kind, buffer, distance, behind] = trespass_;
  const std::string& name = buffers_[buffer].name;
  if (kind == Trespass::Kind::write_to_input) return concat(name, " was written to by the call");
  return concat("memory ", distance, " bytes ", behind ? "behind the end" : "before the start", " of ", name, " is ",
                kind == Trespass::Kind::read ? "read" : "written");
}

void GuardedMemory::record(Trespass trespass) {
  if (trespass.kind > trespass_.kind) trespass_ = trespass;
}

bool GuardedMemory::let_pass(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  if (Buffer* const b = read_only_buffer(at)) {
    b->read_only = !make_usable(b->pages);
    record({Trespass::Kind::write_to_input, static_cast<std::size_t>(b - buffers_.data()), 0, false});
    return !b->read_only;
  }
  if (std::less<>()(at, begin_) || !std::less<>()(at, open_ + page_size)) return false;
  return let_pass_guard(page_begin(const_cast<std::byte*>(at)), at);
}

bool GuardedMemory::borders(const Buffer& buffer, const std::byte* guard_page, bool behind) const {
  return behind ? buffer.pages.data() + buffer.pages.size() == guard_page
                : guard_page + page_size == buffer.pages.data();
}

// The red zone of a buffer grows into a guard page that is written to, so that damage() sees what is written.
bool GuardedMemory::open_for_writing(Buffer& buffer, std::byte* guard_page, bool behind) {
  if (!make_usable({guard_page, page_size})) return false;
  std::span<std::byte>& zone = behind ? buffer.behind : buffer.before;
  const std::size_t old = zone.size();
  zone = {behind ? buffer.data + buffer.bytes : buffer.data - red_zone, red_zone};
  std::array<std::byte, red_zone> pattern;
  write_red_zone(pattern, fill_byte(pattern_));
  const std::span fresh = behind ? zone.subspan(old) : zone.first(red_zone - old);
  std::copy_n(pattern.begin() + (fresh.data() - zone.data()), fresh.size(), fresh.begin());
  return true;
}

// A guard page lies between two buffers. The access belongs to the buffer that adjoins the page. The first access makes
// the page readable, so that an access that faults again is a write.
bool GuardedMemory::let_pass_guard(std::byte* guard_page, const std::byte* address) {
  for (const bool behind : {adjoins_ != Adjoins::before, adjoins_ == Adjoins::before})
    for (std::size_t k = 0; k < buffers_.size(); ++k) {
      const std::size_t i =
          behind ? buffers_.size() - 1 - k : k;  // of buffers on one page, the one nearest to the guard
      Buffer& b = buffers_[i];
      if (!borders(b, guard_page, behind)) continue;
      const auto distance = static_cast<std::size_t>(behind ? address - (b.data + b.bytes) : b.data - address);
      if (guard_page == readable_guard_) {
        record({Trespass::Kind::write, i, distance, behind});
        return open_for_writing(b, guard_page, behind);
      }
      record({Trespass::Kind::read, i, distance, behind});
      readable_guard_ = guard_page;
      return sandbox::make_read_only({guard_page, page_size});
    }
  return false;
}

}  // namespace assay::sandbox
