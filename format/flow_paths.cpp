#include "format/flow_paths.h"

namespace assay::format {

std::uint32_t Paths::end_of_loop(std::size_t k) const {
  std::uint32_t last = targets_[k].last;
  for (; k < targets_.size() && targets_[k].at <= last; ++k) last = std::max(last, targets_[k].last);
  return last + 1;
}

// A target in a loop keeps its state until the loop is done, any other target until it is reached. It keeps the state
// from the first jump to it on; the first jump may lie between two targets.
std::size_t Paths::most_kept() const {
  const auto change = memory_.slots;  // for each target, how many more states are kept from it on than before it
  std::ranges::fill(change, 0);
  for (std::size_t k = 0, end = 0; k < targets_.size(); ++k) {
    if (k >= end && begins_loop(k)) end = index_of(end_of_loop(k));
    const std::size_t behind =
        index_of(std::min(targets_[k].first, targets_[k].at) + 1);  // the first jump, or the target
    ++change[behind > 0 ? behind - 1 : 0];
    --change[std::max(end, k + 1)];
  }
  std::uint32_t now = 0, most = 0;
  for (const std::uint32_t c : change) most = std::max(most, now += c);
  return most;
}

void Paths::keep(std::size_t k, bool back) {
  if (!work_.take(1 + words_ / 8)) return;
  if (memory_.slots[k] == none) {
    memory_.slots[k] = memory_.free[--free_];
    std::ranges::copy(now(), kept(k).begin());
    less_ |= back;
    return;
  }
  std::uint64_t gone = 0;
  for (std::size_t w = 0; w < words_; ++w) {
    gone |= kept(k)[w] & ~now()[w];
    kept(k)[w] &= now()[w];
  }
  less_ |= back && gone != 0;
}

void Paths::release(std::size_t k) {
  if (memory_.slots[k] != none) memory_.free[free_++] = std::exchange(memory_.slots[k], none);
}

// Reaches target next_.
void Paths::arrive(bool in_loop) {
  const std::size_t k = next_++;
  if (reached_ && (in_loop || memory_.slots[k] != none)) keep(k, false);
  if (memory_.slots[k] == none) return;
  std::ranges::copy(kept(k), now().begin());
  reached_ = true;
  if (!in_loop) release(k);
}

}  // namespace assay::format
