#include "planning/arena.h"

#include <algorithm>
#include <utility>

namespace assay::planning {
namespace {

// At most this many buffers share bytes, because the time of a search for an offset grows with their number.
constexpr std::uint32_t most_sharing = 1 << 13;

class Arena {
 public:
  Arena(std::span<const Lifetime> lifetimes, std::span<std::uint64_t> offsets, std::span<std::uint32_t> placed)
      : lifetimes_(lifetimes), offsets_(offsets), placed_(placed) {}

  std::uint64_t size() const { return size_; }

  // Places buffer i at the lowest offset that is free during its lifetime. If `most_sharing` buffers are placed
  // already, places it after all buffers.
  void place(std::uint32_t i) {
    const bool shares = count_ < most_sharing;
    offsets_[i] = shares ? free_offset(lifetimes_[i]) : aligned(size_, lifetimes_[i]);
    size_ = std::max(size_, offsets_[i] + lifetimes_[i].bytes);
    if (shares) keep(i);
  }

 private:
  static std::uint64_t aligned(std::uint64_t offset, const Lifetime& of) {
    return (offset + of.alignment - 1) / of.alignment * of.alignment;
  }

  std::uint64_t free_offset(const Lifetime& life) const {
    std::uint64_t at = 0;
    for (const std::uint32_t j : placed_.first(count_)) {
      const std::uint64_t begin = offsets_[j], end = begin + lifetimes_[j].bytes;
      if (!life.overlaps(lifetimes_[j]) || end <= at) continue;
      if (begin >= at + life.bytes) break;
      at = aligned(end, life);
    }
    return at;
  }

  // Among those placed before, which stand in the order of their offsets.
  void keep(std::uint32_t i) {
    std::uint32_t j = count_++;
    for (; j > 0 && offsets_[placed_[j - 1]] > offsets_[i]; --j) placed_[j] = placed_[j - 1];
    placed_[j] = i;
  }

  std::span<const Lifetime> lifetimes_;
  std::span<std::uint64_t> offsets_;
  std::span<std::uint32_t> placed_;
  std::uint32_t count_ = 0;
  std::uint64_t size_ = 0;
};

// Sorts by heap sort, which takes less code than the functions of the standard library. The first iterations make a
// heap, whose first element comes last; each later one moves this element behind the heap.
template <class Before>
void sort(std::span<std::uint32_t> all, const Before& before) {
  const std::size_t n = all.size();
  for (std::size_t i = n + n / 2; i-- > 0;) {
    if (i < n) std::swap(all[0], all[i]);
    const std::size_t end = std::min(i, n);
    for (std::size_t at = i < n ? 0 : i - n, child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && before(all[child], all[child + 1])) ++child;
      if (!before(all[at], all[child])) break;
      std::swap(all[at], all[child]);
    }
  }
}

}  // namespace

std::optional<std::uint64_t> plan_arena(std::span<const Lifetime> lifetimes, std::span<std::uint64_t> offsets,
                                        format::Workspace& workspace) {
  format::Workspace::Scope scope(workspace);
  const auto order = workspace.take<std::uint32_t>(lifetimes.size());
  Arena arena(lifetimes, offsets, workspace.take<std::uint32_t>(lifetimes.size()));
  if (workspace.counts_only() || !workspace.has_room()) return {};
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i)
    if (lifetimes[i].bytes > 0) order[count++] = i;
  // The largest first.
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return lifetimes[a].bytes != lifetimes[b].bytes ? lifetimes[a].bytes > lifetimes[b].bytes : a < b;
  };
  sort(order.first(count), before);
  std::ranges::fill(offsets, 0);
  for (const std::uint32_t i : order.first(count)) arena.place(i);
  return arena.size();
}

}  // namespace assay::planning
