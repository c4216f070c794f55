#include <algorithm>

#include "optimized/prepare/build.h"
#include "planning/arena.h"

// Memory by lifetime for what a method computes. The source's plan holds for the instructions as they are written. A
// step that does the work of several instructions reads and writes at other times.
namespace assay::optimized {

// Indexed by the root value of each group of values that share memory: the group's lifetime in steps, and its offset
// in the source's plan.
struct Builder::Groups {
  std::span<planning::Lifetime> lives;
  std::span<std::uint64_t> begins;
};

bool Builder::is_placed_by_lifetime(std::uint32_t v) const {
  const std::uint32_t memory = flow_->place(v).memory;
  const bool is_shared = memory < source_.memories.size() && source_.memories[memory].is_shared;
  return source_.is_tensor(v) && !source_.tensors[v].constant && !is_shared;
}

void Builder::use(const Groups& groups, std::uint32_t v, std::uint32_t first, std::uint32_t last) const {
  if (!is_placed_by_lifetime(v)) return;
  const auto uses = flow_->lifetime(v, {first, last});
  planning::Lifetime& life = groups.lives[flow_->root(v)];
  std::uint64_t& begin = groups.begins[flow_->root(v)];
  const Flow::Place& place = flow_->place(v);
  const bool is_first = life.first > life.last;
  const std::uint64_t end = std::max(place.begin + place.size, is_first ? 0 : begin + life.bytes);
  begin = is_first ? place.begin : std::min(begin, place.begin);
  life.bytes = end - begin;
  life.first = std::min(life.first, uses.first), life.last = std::max(life.last, uses.last);
}

void Builder::use_all(const Groups& groups) const {
  const auto steps = static_cast<std::uint32_t>(source_.instructions.size());
  for (std::uint32_t v = 0; v < source_.values.size(); ++v) {
    const Flow::Group& g = flow_->group(v);
    if (g.input || g.state || g.escapes || source_.tensors[v].lasts) use(groups, v, 0, steps);
    if (g.output) use(groups, v, g.writer == Flow::none ? 0 : g.writer, steps);
  }
  for (std::uint32_t i = 0; i < steps; ++i)
    if (!source_.instructions[i].dead)
      each_tensor(source_.instructions[i].call, [&](const Value& v) { use(groups, source_.index_of(v), i, i); });
}

bool Builder::place_by_lifetime() {
  const std::size_t n = source_.values.size();
  const Groups groups{workspace_.take<planning::Lifetime>(n), workspace_.take<std::uint64_t>(n)};
  const auto offsets = workspace_.take<std::uint64_t>(n);
  if (!has_room()) return false;
  std::ranges::fill(groups.lives, planning::Lifetime{.first = ~std::uint32_t{0}, .alignment = alignment});
  use_all(groups);
  const auto size = planning::plan_arena(groups.lives, offsets, workspace_);
  if (!size) return refuse_room("needs a larger workspace");
  const std::uint64_t base = arena_;
  arena_ += aligned(*size);
  for (std::uint32_t v = 0; v < n && memories_; ++v) {
    const std::uint32_t root = flow_->root(v);
    if (is_placed_by_lifetime(v) && groups.lives[root].bytes > 0)
      source_.tensors[v].data =
          memories_->arena.data() + base + offsets[root] + (flow_->place(v).begin - groups.begins[root]);
  }
  return true;
}

}  // namespace assay::optimized
