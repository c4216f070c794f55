#include "optimized/draft/flow.h"

#include <algorithm>

#include "optimized/draft/effects.h"

namespace assay::optimized {

using format::Use;

bool Flow::is_straight(const Source& source) {
  return source.has_one_chain && std::ranges::all_of(source.instructions, [](const Instruction& i) {
           return i.kind == Instruction::Kind::call && !i.call.roles->has(Use::viewed) &&
                  !i.call.roles->has(Use::grown);
         });
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
  if (to.writer == none || (from.writer != none && from.writer > to.writer)) to.writer = from.writer;
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

// A value that is read is the same bytes as each value that was written there.
bool Flow::read(std::uint32_t v) {
  const Written wanted = range(v);
  for (std::size_t i = 0; i < count_; ++i) {
    const Written& w = written_[i];
    if (w.memory == wanted.memory && w.begin < wanted.end && wanted.begin < w.end) join(w.value, v);
  }
  left_ -= std::min<std::uint64_t>(left_, count_ + 1);
  return left_ > 0;
}

// Takes the bytes of a range from the values that were written there.
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
  // The parts that were added are behind `end`.
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

bool Flow::take(const Source& source, format::Workspace& workspace) {
  const auto n = static_cast<std::uint32_t>(source.values.size());
  parents_ = workspace.take<std::uint32_t>(n), next_ = workspace.take<std::uint32_t>(n);
  groups_ = workspace.take<Group>(n);
  places_ = workspace.take<Place>(n);
  written_ = workspace.take<Written>(2 * std::uint64_t{n} + 16);
  if (!workspace.has_room() || workspace.counts_only()) return false;
  for (std::uint32_t v = 0; v < n; ++v) {
    const Storage& storage = source.storage[v];
    parents_[v] = next_[v] = v;
    places_[v] = {storage.memory > 0 ? storage.memory : none - v, storage.offset, storage.bytes};
  }
  return true;
}

// State and inputs have their elements before the first instruction.
bool Flow::write_given(const Source& source) {
  bool done = true;
  for (std::uint32_t v = 0; v < source.values.size(); ++v)
    if (source.tensors[v].lasts) done = done && write(v), groups_[v].state = true;
  for (const std::int32_t i : source.inputs) {
    const auto v = static_cast<std::uint32_t>(i);
    done = done && write(v), groups_[root(v)].input = true;
  }
  return done;
}

bool Flow::enter_read(std::uint32_t v) {
  const bool done = read(v);
  ++groups_[root(v)].readers;
  return done;
}

bool Flow::enter_write(std::uint32_t v, std::uint32_t instruction) {
  const bool done = write(v);
  Group& g = groups_[root(v)];
  ++g.writers, g.writer = instruction;
  return done;
}

bool Flow::follow(const Source& source, std::uint32_t i) {
  const Instruction& instruction = source.instructions[i];
  bool done = true;
  each_effect(source, instruction, [&](const ValueEffect& e) {
    if (e.use == Use::read || e.use == Use::changed || e.use == Use::overwritten || e.use == Use::asked)
      done = done && enter_read(source.index_of(e.value));
  });
  each_effect(source, instruction, [&](const ValueEffect& e) {
    if (e.use == Use::returned)
      return join(source.index_of(e.value), source.index_of(*changed_argument(instruction.call)));
    if (format::writes(e.use)) done = done && enter_write(source.index_of(e.value), i);
  });
  return done;
}

bool Flow::read_outputs(const Source& source) {
  bool done = true;
  for (const std::int32_t o : source.outputs) {
    const auto v = static_cast<std::uint32_t>(o);
    done = done && read(v), groups_[root(v)].output = true;
  }
  return done;
}

std::optional<Flow> Flow::of(const Source& source, format::Workspace& workspace) {
  Flow flow;
  if (!flow.take(source, workspace)) return {};
  bool done = flow.write_given(source);
  for (std::uint32_t i = 0; i < source.instructions.size() && done; ++i) done = flow.follow(source, i);
  return done && flow.read_outputs(source) ? std::optional(flow) : std::nullopt;
}

}  // namespace assay::optimized
