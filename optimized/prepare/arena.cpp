#include <algorithm>

#include "optimized/prepare/build.h"

// Memory for what a method computes, by when it is of use. The plan of the file holds only for the instructions as they
// stand there; steps that do what several did read and write at other times.
namespace assay::optimized {
namespace {

constexpr std::uint32_t most_shared = 1 << 13;  // groups that share memory, as finding a place takes time

// The bytes of a group of values, and the first and last step to which they are of use.
struct Life {
  std::uint64_t size = 0, begin = ~std::uint64_t{0}, at = 0;  // begin: the first of the group's in the file's plan
  std::uint32_t first = ~std::uint32_t{0}, last = 0;

  bool overlaps(const Life& other) const { return first <= other.last && other.first <= last; }
};

}  // namespace

bool Builder::place_by_lifetime() {
  const std::uint32_t n = method_.values(), steps = method_.instructions();
  const auto lives = workspace_.take<Life>(n);
  const auto order = workspace_.take<std::uint32_t>(n), placed = workspace_.take<std::uint32_t>(n);
  if (!has_room()) return false;
  const auto use = [&](std::uint32_t v, std::uint32_t first, std::uint32_t last) {
    const Tensor& t = tensors_[v];
    if (!method_.tensor(v) || t.constant || t.data) return;
    Life& life = lives[flow_->root(v)];
    const Flow::Place& p = flow_->place(v);
    const std::uint64_t end = std::max(p.begin + p.size, life.begin == Life().begin ? 0 : life.begin + life.size);
    life.begin = std::min(life.begin, p.begin);
    life.size = end - life.begin;
    life.first = std::min(life.first, first), life.last = std::max(life.last, last);
  };
  std::ranges::fill(lives, Life());
  for (std::uint32_t v = 0; v < n; ++v) {
    const Flow::Group& g = flow_->group(v);
    if (g.input || g.state || is_state_[v]) use(v, 0, steps);
    if (g.output) use(v, g.writer == Flow::nobody ? 0 : g.writer, steps);
  }
  for (std::uint32_t i = 0; i < steps; ++i) {
    if (calls_[i].dead) continue;
    each_tensor(calls_[i].call, [&](const Value& v) { use(index_of(v), i, i); });
  }
  // The largest first, each at the lowest place that is free as long as it lives.
  std::uint32_t count = 0;
  for (std::uint32_t v = 0; v < n; ++v)
    if (lives[v].size > 0) order[count++] = v;
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return lives[a].size != lives[b].size ? lives[a].size > lives[b].size : a < b;
  };
  std::ranges::make_heap(order.first(count), before);  // less code than sort
  std::ranges::sort_heap(order.first(count), before);
  const std::uint64_t base = arena_;
  for (std::uint32_t k = 0; k < count; ++k) {
    Life& life = lives[order[k]];
    if (k >= most_shared) {  // each behind all others
      life.at = arena_ - base;
      arena_ += aligned(life.size);
      continue;
    }
    std::uint64_t at = 0;
    for (std::uint32_t j = 0; j < k; ++j) {  // in the order of their places
      const Life& other = lives[placed[j]];
      if (!life.overlaps(other) || other.at + aligned(other.size) <= at) continue;
      if (other.at >= at + aligned(life.size)) break;
      at = other.at + aligned(other.size);
    }
    life.at = at;
    std::uint32_t j = k;
    for (; j > 0 && lives[placed[j - 1]].at > at; --j) placed[j] = placed[j - 1];
    placed[j] = order[k];
    arena_ = std::max(arena_, base + at + aligned(life.size));
  }
  for (std::uint32_t v = 0; v < n; ++v) {
    const Life& life = lives[flow_->root(v)];
    if (!method_.tensor(v) || tensors_[v].constant || tensors_[v].data || life.size == 0 || !memories_) continue;
    tensors_[v].data = memories_->arena.data() + base + life.at + (flow_->place(v).begin - life.begin);
  }
  return true;
}

}  // namespace assay::optimized
