#include "optimized/prepare/flow.h"

#include <algorithm>

#include "format/flow_places.h"

namespace assay::optimized {

using format::Effect;
using format::Use;

bool Flow::is_straight(const format::Method& method) {
  if (format::size_of(method.plan().chains()) != 1) return false;
  for (std::uint32_t i = 0; i < method.instructions(); ++i) {
    const auto type = method.instruction(i).instr_args_type();
    if (type != pte::InstructionArguments::KernelCall) return false;
    const format::OperatorRoles* roles = method.roles(*method.kernel_call(i));
    if (!roles || roles->has(Use::viewed) || roles->has(Use::grown)) return false;
  }
  return true;
}

std::uint32_t Flow::root(std::uint32_t v) const {
  while (parents_[v] != v) v = parents_[v];
  return v;
}

void Flow::join(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t one = a, other = b;
  a = root(a), b = root(b);
  if (a == b) return;
  if (groups_[a].members < groups_[b].members) std::swap(a, b);
  Group &to = groups_[a], &from = groups_[b];
  const Place &p = places_[one], &q = places_[other];
  to.same_place = to.same_place && from.same_place && p.memory == q.memory && p.begin == q.begin && p.size == q.size;
  to.writers += from.writers, to.readers += from.readers, to.members += from.members;
  if (to.writer == nobody || (from.writer != nobody && from.writer > to.writer)) to.writer = from.writer;
  to.input = to.input || from.input, to.output = to.output || from.output, to.state = to.state || from.state;
  parents_[b] = a;
  std::swap(next_[a], next_[b]);
}

void Flow::merge(std::uint32_t a, std::uint32_t b) {
  const Place to = places_[b];
  const Group of_b = group(b);
  const std::uint32_t writers = group(a).writers;
  each_member(a, [&](std::uint32_t v) { places_[v] = to; });
  join(a, b);
  Group& g = groups_[root(b)];
  g.writers -= writers, --g.readers, g.writer = of_b.writer;
}

// What was written to bytes that are read is the same as what is read there.
bool Flow::read(std::uint32_t v) {
  const Written wanted = range(v);
  for (std::size_t i = 0; i < count_; ++i) {
    const Written& w = written_[i];
    if (w.memory == wanted.memory && w.begin < wanted.end && wanted.begin < w.end) join(w.value, v);
  }
  left_ -= std::min<std::uint64_t>(left_, count_ + 1);
  return left_ > 0;
}

// Takes the bytes of a range from those who had them.
bool Flow::cover(const Written& range) {
  std::size_t kept = 0, end = count_;
  for (std::size_t i = 0; i < end; ++i) {
    Written w = written_[i];
    if (w.memory != range.memory || w.end <= range.begin || range.end <= w.begin) {
      written_[kept++] = w;
      continue;
    }
    const Written behind{w.memory, w.value, range.end, w.end};
    if (w.begin < range.begin) written_[kept++] = {w.memory, w.value, w.begin, range.begin};
    if (range.end >= w.end) continue;
    if (kept <= i) {
      written_[kept++] = behind;
    } else {  // both parts stay, and there is one more than before
      if (count_ == written_.size()) return false;
      written_[count_++] = behind;
    }
  }
  // Parts that were added stand behind `end`.
  std::copy(written_.begin() + static_cast<std::ptrdiff_t>(end), written_.begin() + static_cast<std::ptrdiff_t>(count_),
            written_.begin() + static_cast<std::ptrdiff_t>(kept));
  count_ = kept + (count_ - end);
  left_ -= std::min<std::uint64_t>(left_, count_ + 1);
  return left_ > 0;
}

bool Flow::write(std::uint32_t v) {
  const Written written = range(v);
  if (written.begin == written.end) return true;
  if (!cover(written) || count_ == written_.size()) return false;
  written_[count_++] = written;
  return true;
}

std::optional<Flow> Flow::of(const format::Method& method, std::span<const std::uint8_t> is_state,
                             format::Workspace& workspace) {
  Flow flow;
  const std::uint32_t n = method.values();
  flow.parents_ = workspace.take<std::uint32_t>(n), flow.next_ = workspace.take<std::uint32_t>(n);
  flow.groups_ = workspace.take<Group>(n);
  flow.places_ = workspace.take<Place>(n);
  flow.written_ = workspace.take<Written>(2 * std::uint64_t{n} + 16);
  if (!workspace.has_room() || workspace.counts_only()) return {};
  for (std::uint32_t v = 0; v < n; ++v) {
    flow.parents_[v] = flow.next_[v] = v, flow.groups_[v] = {};
    const pte::Tensor* t = method.tensor(v);
    const bool planned = t && t->allocation_info();
    flow.places_[v] = {planned ? t->allocation_info()->memory_id() : nobody - v,
                       planned ? format::planned_offset(*t->allocation_info()) : 0, t ? format::bytes_of(*t) : 0};
  }
  bool done = true;
  for (std::uint32_t v = 0; v < n; ++v)
    if (is_state[v]) done = done && flow.write(v), flow.groups_[v].state = true;
  for (const std::int32_t i : format::items(method.plan().inputs())) {
    const auto v = static_cast<std::uint32_t>(i);
    done = done && flow.write(v), flow.groups_[flow.root(v)].input = true;
  }
  for (std::uint32_t i = 0; i < method.instructions() && done; ++i) {
    format::each_effect(method, method.instruction(i), [&](const Effect& e) {
      if (e.use != Use::read && e.use != Use::changed && e.use != Use::overwritten && e.use != Use::asked) return;
      done = done && flow.read(e.value);
      ++flow.groups_[flow.root(e.value)].readers;
    });
    format::each_effect(method, method.instruction(i), [&](const Effect& e) {
      if (e.use == Use::returned) return flow.join(e.value, e.other);
      if (!format::writes(e.use)) return;
      done = done && flow.write(e.value);
      Group& g = flow.groups_[flow.root(e.value)];
      ++g.writers, g.writer = i;
    });
  }
  for (const std::int32_t o : format::items(method.plan().outputs())) {
    const auto v = static_cast<std::uint32_t>(o);
    done = done && flow.read(v), flow.groups_[flow.root(v)].output = true;
  }
  return done ? std::optional(flow) : std::nullopt;
}

}  // namespace assay::optimized
