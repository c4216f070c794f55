#include "format/flow_places.h"

#include <tuple>

#include "dtype.gen.h"

namespace assay::format {
namespace {

bool is_kept(const pte::Tensor& t) { return !is_constant(t) && (!name_of(t).empty() || t.data_buffer_idx() > 0); }

}  // namespace

std::uint64_t bytes_of(const pte::Tensor& t) {
  auto bytes = static_cast<std::uint64_t>(find_dtype(t.scalar_type())->bytes);
  for (const std::int32_t n : items(t.sizes())) bytes *= static_cast<std::uint64_t>(n);
  return bytes;
}

void each_end(const pte::ExecutionPlan& plan, void (*f)(void* context, std::uint32_t memory, std::uint64_t end),
              void* context) {
  for (const pte::EValue* v : *plan.values())
    if (const pte::Tensor* t = v->val_as_Tensor(); t && t->allocation_info())
      f(context, t->allocation_info()->memory_id(), planned_offset(*t->allocation_info()) + bytes_of(*t));
}

bool same_beginning(const pte::Tensor& a, const pte::Tensor& b) {
  const auto *x = a.allocation_info(), *y = b.allocation_info();
  return x && y && x->memory_id() == y->memory_id() && planned_offset(*x) == planned_offset(*y);
}

Places::Counts::Counts(const pte::ExecutionPlan& plan) : values(plan.values()->size()) {
  for (const pte::EValue* v : *plan.values()) tensors += v->val_type() == pte::KernelTypes::Tensor;
  const auto aliases_of = [&](const pte::KernelCall& call) {
    const auto op = static_cast<std::uint32_t>(call.op_index());  // memory is counted before the rules are checked
    const OperatorRoles* roles = op < size_of(plan.operators()) ? find_roles(*plan.operators()->Get(op)) : nullptr;
    return roles && (roles->has(Use::viewed) || roles->returns_changed());
  };
  for (const pte::Chain* chain : *plan.chains())
    for (const pte::Instruction* i : *chain->instructions()) {
      const auto* call = i->instr_args_as_KernelCall();
      aliases += i->instr_args_as_MoveCall() || (call && aliases_of(*call));
      jumps += i->instr_args_as_JumpFalseCall() != nullptr;
    }
}

Places::Places(const Method& method, const Counts& counts, Workspace& workspace, Work& work)
    : m_(method),
      flags_(workspace.take<std::uint16_t>(counts.values)),
      content_(workspace.take<std::uint32_t>(counts.values)),
      handle_(workspace.take<std::uint32_t>(counts.values)),
      ranges_(workspace.take<Range>(counts.tensors)),
      views_(workspace.take<std::uint32_t>(counts.tensors)),
      sources_(workspace.take<std::uint32_t>(std::uint64_t{8} * counts.aliases)),
      begins_(workspace.take<std::uint32_t>(counts.aliases + 1)) {
  const Workspace::Scope scope(workspace);
  const auto edges = workspace.take<Edge>(counts.aliases);
  const auto queue = workspace.take<std::uint32_t>(counts.aliases + 1);
  if (workspace.counts_only() || !workspace.has_room()) return;
  std::ranges::fill(content_, nowhere);
  std::ranges::fill(handle_, nowhere);
  mark_values();
  if (counts.aliases > 0) mark_handles(work);
  place_tensors();
  if (counts.aliases > 0) place_handles(collect(edges), queue, work);
  number_cells();
}

void Places::mark_values() {
  const auto set = [&](const flatbuffers::Vector<std::int32_t>* indices, Flag flag) {
    for (const std::int32_t v : *indices) flags_[static_cast<std::size_t>(v)] |= flag;
  };
  set(m_.plan().inputs(), static_cast<Flag>(input | used | own));
  set(m_.plan().outputs(), output);
  for (std::uint32_t v = 0; v < m_.values(); ++v)
    if (const pte::Tensor* t = m_.tensor(v))
      flags_[v] |= static_cast<std::uint16_t>((format::is_constant(*t) ? constant : 0) | (is_kept(*t) ? state : 0));
  for (std::uint32_t i = 0; i < m_.instructions(); ++i)
    each_effect(m_, m_.instruction(i), [&](const Effect& e) {
      const bool custom = e.use == Use::either && m_.kernel_call(i), first = !(flags_[e.value] & used);
      flags_[e.value] |= used;
      if (e.use == Use::written || e.use == Use::grown || (e.use == Use::overwritten && first)) flags_[e.value] |= own;
      if (e.use == Use::moved) flags_[e.value] |= alias;
      if (e.use == Use::changed || e.use == Use::overwritten || custom) flags_[e.value] |= state;
      if (!is_number(m_.type(e.value)) || (e.use != Use::written && e.use != Use::either)) return;
      // A number may be an input of a delegate; a Null can only be an output.
      const bool is_result = e.use == Use::written || m_.type(e.value) == pte::KernelTypes::Null;
      flags_[e.value] |= static_cast<std::uint16_t>(changing | (is_result ? assigned : 0));
    });
}

// A view at the place of its source needs no handle, unless its source is a handle.
void Places::mark_handles(Work& work) {
  for (bool more = true; more && work.left > 0;) {
    more = false;
    for (std::uint32_t i = 0; i < m_.instructions(); ++i)
      each_effect(m_, m_.instruction(i), [&](const Effect& e) {
        if (!work.take(1) || !is_alias(e.use) || is_handle(e.value)) return;
        if (!is_handle(e.other) && same_place(*m_.tensor(e.value), *m_.tensor(e.other))) return;
        flags_[e.value] |= alias;
        more = true;
      });
  }
}

void Places::place_tensors() {
  std::size_t n = 0;
  for (std::uint32_t v = 0; v < m_.values(); ++v) {
    const pte::Tensor* t = m_.tensor(v);
    if (!t || is_handle(v) || is_constant(v) || (bytes_of(*t) == 0 && !is_unbounded(*t))) continue;
    if (const auto* a = t->allocation_info())
      ranges_[n++] = {planned_offset(*a), planned_offset(*a) + bytes_of(*t), a->memory_id(), v};
    else
      ranges_[n++] = {v, std::uint64_t{v} + 1, 0, v};
  }
  ranges_ = ranges_.first(n);
  const auto fixed = [&](const Range& r) { return format::is_static(*m_.tensor(r.value)); };
  const auto is_view = [&](const Range& r) { return fixed(r) && !is_own(r.value); };
  std::ranges::sort(ranges_, {},
                    [&](const Range& r) { return std::tuple(r.memory, r.begin, r.end, !is_view(r), r.value); });
  std::uint32_t kept = 0, views = nowhere;  // the cell of the views at the current range
  for (const Range r : ranges_) {
    if (kept == 0 || !(ranges_[kept - 1] == r)) views = nowhere;
    const bool joins = is_view(r) && views != nowhere;
    if (!joins) {
      if (is_view(r)) views = kept;
      ranges_[kept] = r;
      views_[kept] = fixed(r) ? views : nowhere;
      ++kept;
    }
    content_[r.value] = kept - 1;
  }
  ranges_ = ranges_.first(kept), views_ = views_.first(kept);
  contents_end_ = kept;
}

std::span<Places::Edge> Places::collect(std::span<Edge> edges) const {
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < m_.instructions(); ++i)
    each_effect(m_, m_.instruction(i), [&](const Effect& e) {
      if (is_alias(e.use) && is_handle(e.value)) edges[n++] = {e.value, e.other};
    });
  edges = edges.first(n);
  std::ranges::sort(edges);
  return {edges.begin(), std::unique(edges.begin(), edges.end())};
}

// The number of ranges in which the handle may be, through other handles. They are at the end of sources_.
std::size_t Places::find_sources(std::uint32_t handle, std::span<const Edge> edges, std::span<std::uint32_t> queue,
                                 Work& work) {
  // handle_ is not in use yet: here it holds the handle whose search has last seen a value.
  const auto found = sources_.subspan(begins_[contents_end_ - ranges_.size()]);
  std::size_t queued = 0, n = 0;
  const auto add = [&](std::span<std::uint32_t> to, std::size_t& size, std::uint32_t value, std::uint32_t entry) {
    if (std::exchange(handle_[value], handle) == handle) return;
    if (!work.take(size < to.size() ? 1 : work.left)) return;
    to[size++] = entry;
  };
  add(queue, queued, handle, handle);
  handle_[handle] = nowhere;
  add(found, n, handle, handle);
  for (std::size_t i = 0; i < queued; ++i)
    for (auto e = std::ranges::lower_bound(edges, queue[i], {}, &Edge::to); e != edges.end() && e->to == queue[i];
         ++e) {
      if (is_constant(e->from)) flags_[handle] |= constant;
      if (is_handle(e->from))
        add(queue, queued, e->from, e->from);
      else if (const std::uint32_t c = content_[e->from]; c != nowhere)
        add(found, n, ranges_[c].value, c);
    }
  return n;
}

void Places::place_handles(std::span<const Edge> edges, std::span<std::uint32_t> queue, Work& work) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::uint32_t v = edges[i].to;
    if (i > 0 && edges[i - 1].to == v) continue;
    const std::size_t h = contents_end_ - ranges_.size(), n = find_sources(v, edges, queue, work);
    if (work.left == 0) return;
    begins_[h + 1] = begins_[h] + static_cast<std::uint32_t>(n);
    content_[v] = contents_end_++;
    if (n > 2 || is_constant(v) || !is_static(content_[v])) continue;
    // A handle of one range or of none needs no content of its own.
    content_[v] = n == 2 ? sources_[begins_[h] + 1] : nowhere;
    --contents_end_;
  }
  std::ranges::fill(handle_, nowhere);
}

void Places::number_cells() {
  cells_ = contents_end_;
  for (std::uint32_t v = 0; v < m_.values(); ++v) {
    if (is_assigned(v)) content_[v] = cells_++;
    if (is_handle(v) && (content_[v] == nowhere || content_[v] < ranges_.size())) handle_[v] = cells_++;
  }
}

bool Places::is_static(std::uint32_t content) const {
  bool all = content < ranges_.size() || format::is_static(*m_.tensor(held(content)[0]));
  each_range(content, [&](const Range& r) { all &= format::is_static(*m_.tensor(r.value)); });
  return all;
}

bool Places::overlap(std::uint32_t a, std::uint32_t b, Work& work) const {
  bool any = false;
  each_range(a, [&](const Range& x) {
    if (work.left > 0) each_range(b, [&](const Range& y) { any |= work.take(1) && x.overlaps(y); });
  });
  return any;
}

}  // namespace assay::format
