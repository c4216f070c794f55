#include "optimized/draft/flow.h"

#include <algorithm>

#include "optimized/draft/effects.h"

namespace assay::optimized {

using format::Use;

namespace {

bool reads_bytes(Use use) { return use != Use::written && use != Use::freed && !format::is_alias(use); }
bool writes_bytes(Use use) { return format::writes(use) && use != Use::freed && !format::is_alias(use); }

// Whether the instruction after this one may run next. The exporter writes an unconditional jump as a jump whose
// condition is the constant false.
bool falls_through(const Instruction& i) {
  if (i.kind != Instruction::Kind::jump) return true;
  const Value& condition = *i.call.arguments[0];
  return condition.changes || condition.kind != ValueKind::boolean || condition.boolean;
}

bool overlap(const Flow::Place& a, const Flow::Place& b) {
  return a.memory == b.memory && a.begin < b.begin + b.size && b.begin < a.begin + a.size;
}

// Takes the bytes of `b` from `a`, unless two parts of `a` would be left.
void cut(Flow::Place& a, const Flow::Place& b) {
  const std::uint64_t end = a.begin + a.size, end_of_b = b.begin + b.size;
  if (b.begin > a.begin && end_of_b < end) return;
  if (b.begin <= a.begin) a.begin = std::min(end, end_of_b);
  a.size = (b.begin > a.begin ? b.begin : end) - a.begin;
}

}  // namespace

std::uint32_t Flow::root(std::uint32_t v) const {
  while (members_[v].parent != v) v = members_[v].parent;
  return v;
}

void Flow::join(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t one = a, other = b;
  a = root(a), b = root(b);
  if (a == b) return;
  if (members_[a].group.members < members_[b].group.members) std::swap(a, b);
  Group &to = members_[a].group, &from = members_[b].group;
  to.same_place = to.same_place && from.same_place && place(one) == place(other);
  to.writers += from.writers, to.readers += from.readers, to.members += from.members;
  if (to.writer == none || (from.writer != none && from.writer > to.writer)) to.writer = from.writer;
  to.input |= from.input, to.output |= from.output, to.state |= from.state;
  to.aliased |= from.aliased, to.escapes |= from.escapes;
  to.local = to.local && from.local && (to.block == from.block || to.block == none || from.block == none);
  to.block = std::min(to.block, from.block);
  members_[b].parent = a;
  std::swap(members_[a].next, members_[b].next);
}

void Flow::merge(std::uint32_t a, std::uint32_t b) {
  const Place to = place(b);
  const Group of_b = group(b);
  const std::uint32_t writers = group(a).writers;
  each_member(a, [&](std::uint32_t v) { members_[v].place = to; });
  join(a, b);
  Group& g = group_of(b);
  g.writers -= writers, --g.readers, g.writer = of_b.writer;
}

bool Flow::take(format::Workspace& workspace) {
  members_ = workspace.take<Member>(source_->values.size());
  points_ = workspace.take<Point>(source_->instructions.size());
  blocks_ = workspace.take<Block>(source_->instructions.size() + 1);
  if (!workspace.has_room() || workspace.counts_only()) return false;
  for (std::uint32_t v = 0; v < members_.size(); ++v) {
    const Storage& storage = source_->storage[v];
    members_[v].parent = members_[v].next = v;
    members_[v].place = {storage.memory > 0 ? storage.memory : none - v, storage.offset, storage.bytes};
    members_[v].group.state = source_->tensors[v].lasts;
  }
  for (const std::int32_t i : source_->inputs) members_[static_cast<std::uint32_t>(i)].group.input = true;
  return true;
}

// The last block has no instructions: it is the end of the method.
void Flow::find_blocks() {
  const std::uint32_t n = instructions();
  for (std::uint32_t i = 0; i < n; ++i) {
    const Instruction& jump = source_->instructions[i];
    if (jump.kind != Instruction::Kind::jump) continue;
    blocks_[i + 1].visit = blocks_[jump.target].visit = 1;  // a block begins here
  }
  blocks_[n].visit = 1;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i <= n; ++i) {
    if (i == 0 || blocks_[i].visit) blocks_[count++].begin = i;
    if (i < n) points_[i].block = count - 1;
  }
  blocks_ = blocks_.first(count);
  for (Block& b : blocks_) b.visit = 0;
}

// Loops that overlap count as one loop.
void Flow::find_loops() {
  const std::uint32_t n = instructions();
  for (std::uint32_t i = 0; i < n; ++i) {
    const Instruction& jump = source_->instructions[i];
    points_[i].loops.last = i;
    if (jump.kind == Instruction::Kind::jump && jump.target <= i) points_[jump.target].loops.last = i;
  }
  for (std::uint32_t i = 0, k = 0; i < n; i = k) {
    std::uint32_t last = i;
    for (k = i; k <= last; ++k) last = std::max(last, points_[k].loops.last);
    for (k = i; k <= last; ++k) points_[k].loops = {i, last};
  }
}

Flow::Interval Flow::lifetime(std::uint32_t v, Interval uses) const {
  if (const Group& g = group(v); g.local && g.writers == 1) return uses;
  if (uses.first < instructions()) uses.first = points_[uses.first].loops.first;
  if (uses.last < instructions()) uses.last = points_[uses.last].loops.last;
  return uses;
}

// Makes one value a handle of another. Returns whether the handle has got the place of its base.
bool Flow::alias(std::uint32_t handle, std::uint32_t base, bool is_view) {
  Member& h = members_[handle];
  const bool is_first = !h.is_handle && source_->storage[handle].memory == 0;
  if (is_first) h.place = place(base);
  h.is_handle = true;
  if (place(handle) == place(base)) join(handle, base);
  for (const std::uint32_t v : {handle, base}) {
    Group& g = group_of(v);
    const bool strays = place(handle) != place(base);
    g.aliased |= strays || !is_view, g.escapes |= strays;
  }
  return is_first;
}

bool Flow::place_handles() {
  for (bool changed = true; changed && take_steps(instructions());) {
    changed = false;
    for (const Instruction& i : source_->instructions)
      each_effect(*source_, i, [&](const ValueEffect& e) {
        if (!format::is_alias(e.use)) return;
        const Value& base = e.use == Use::returned ? *changed_argument(i.call) : *i.call.arguments[0];
        if (base.kind == ValueKind::tensor)
          changed |= alias(source_->index_of(e.value), source_->index_of(base), e.use == Use::viewed);
      });
  }
  return left_ > 0;
}

// Inputs and state have their elements before the first instruction.
void Flow::read_given(std::uint32_t v) {
  for (std::uint32_t given = 0; given < members_.size() && take_steps(1); ++given)
    if ((group(given).input || group(given).state) && overlap(place(given), place(v))) join(given, v);
}

// Joins the value with each value through which an instruction of a range of a block may have written its bytes last.
// Returns whether the instructions write all of its bytes.
bool Flow::read_block(std::uint32_t v, std::uint32_t begin, std::uint32_t end) {
  Place left = place(v);
  for (std::uint32_t i = end; i-- > begin && left.size > 0 && take_steps(1);)
    each_effect(*source_, source_->instructions[i], [&](const ValueEffect& e) {
      const std::uint32_t to = source_->index_of(e.value);
      if (!writes_bytes(e.use) || !overlap(place(to), left)) return;
      join(to, v);
      const bool may_go_elsewhere = members_[to].is_handle && group(to).escapes;
      if (!may_go_elsewhere) cut(left, place(to));
    });
  return left.size == 0;
}

// Makes the blocks that may run before a block wait for the read, unless it was there.
void Flow::enter_predecessors(std::uint32_t block) {
  for (std::uint32_t b = 0; b + 1 < blocks_.size() && take_steps(1); ++b) {
    const Instruction& last = source_->instructions[blocks_[b + 1].begin - 1];
    const bool jumps = last.kind == Instruction::Kind::jump && last.target == blocks_[block].begin;
    if (blocks_[b].visit == visit_ || !(jumps || (b + 1 == block && falls_through(last)))) continue;
    blocks_[b].visit = visit_, blocks_[b].next = waiting_, waiting_ = b;
  }
}

// An instruction reads the bytes of a value: what was written there last, on any path.
void Flow::read(std::uint32_t v, std::uint32_t at) {
  std::uint32_t block = at < instructions() ? points_[at].block : static_cast<std::uint32_t>(blocks_.size() - 1);
  std::uint32_t end = at;
  ++visit_, waiting_ = none;
  if (source_->tensors[v].constant) return;
  for (;; end = blocks_[block + 1].begin) {
    if (!read_block(v, blocks_[block].begin, end)) {
      if (block == 0) read_given(v);
      enter_predecessors(block);
    }
    if (waiting_ == none) return;
    block = waiting_, waiting_ = blocks_[block].next;
  }
}

void Flow::follow(std::uint32_t i) {
  each_effect(*source_, source_->instructions[i], [&](const ValueEffect& e) {
    const std::uint32_t v = source_->index_of(e.value);
    const bool reads = reads_bytes(e.use), writes = writes_bytes(e.use);
    if (reads) read(v, i);
    Group& g = group_of(v);
    g.readers += reads, g.writers += writes;
    if (writes) g.writer = i;
    if (g.block == none) g.block = points_[i].block;
    g.local = g.local && g.block == points_[i].block && !(reads && writes);
  });
}

std::optional<Flow> Flow::of(const Source& source, format::Workspace& workspace) {
  Flow flow(source);
  if (!flow.take(workspace)) return {};
  flow.find_blocks(), flow.find_loops();
  if (!flow.place_handles()) return {};
  for (std::uint32_t i = 0; i < flow.instructions(); ++i) flow.follow(i);
  for (const std::int32_t o : source.outputs) {
    const auto v = static_cast<std::uint32_t>(o);
    flow.read(v, flow.instructions());
    Group& g = flow.group_of(v);
    g.output = true, g.local = false;
  }
  return flow.left_ > 0 ? std::optional(flow) : std::nullopt;
}

}  // namespace assay::optimized
