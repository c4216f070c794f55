#include "format/flow_rules.h"
#include "format/sorted.h"

namespace assay::format {
namespace {

bool same_layout(const pte::Tensor& a, const pte::Tensor& b) {
  return bytes_of(a) == bytes_of(b) && std::ranges::equal(items(a.sizes()), items(b.sizes())) &&
         std::ranges::equal(items(a.dim_order()), items(b.dim_order()));
}

// Whether the tensor has memory: planned memory, the caller's (inputs, outputs and named state), or its own if it is
// unbounded.
bool has_memory(const Places& places, const pte::Tensor& t, std::uint32_t v) {
  return t.allocation_info() || is_constant(t) || places.is_handle(v) || places.content(v) == Places::nowhere ||
         places.is_input(v) || places.is_output(v) || !name_of(t).empty() || is_unbounded(t);
}

bool is_freeable(const Places& places, const pte::Tensor& t, std::uint32_t v) {
  return is_unbounded(t) && !is_constant(t) && name_of(t).empty() && !places.is_handle(v) && !places.is_input(v) &&
         !places.is_output(v);
}

class MemoryCheck {
 public:
  MemoryCheck(const Method& m, const Places& places, Work& work, Findings& findings)
      : m_(m), places_(places), work_(work), f_(findings) {}

  void effect(const Effect& e, const Place& place) {
    const pte::Tensor* t = m_.tensor(e.value);
    if (!t || !writes(e.use)) return;
    if (e.use == Use::viewed) return view(e, *t, place);
    if (e.use == Use::moved) return move(e, *t, place);
    if (e.use == Use::freed) {
      f_.check(is_freeable(places_, *t, e.value), "I19", place, "frees value ", e.value,
               ", which does not own its memory");
      return;
    }
    if (e.use != Use::either)
      f_.check(!places_.is_constant(e.value), "T15", place, "writes to value ", e.value, ", which is a constant");
    if (e.use != Use::returned)
      f_.check(has_memory(places_, *t, e.value), "T25", place, "writes to value ", e.value, ", which has no memory");
  }

  // Checks an operator's results against everything else that it reads and writes.
  void overlaps(const OperatorRoles& roles, const pte::KernelCall& call, const Place& place) {
    std::uint32_t n = 0;
    each_effect(m_, roles, call, [&](const Effect& result) {
      const std::uint32_t at = n++;
      if (!is_result(result.use) || work_.left == 0) return;
      std::uint32_t k = 0;
      each_effect(m_, roles, call, [&](const Effect& other) {
        const std::uint32_t other_at = k++;
        if (!work_.take(1) || other_at == at || other.use == Use::asked || is_alias(other.use) ||
            (is_result(other.use) && other_at < at))
          return;
        f_.check(!meet(result.value, other.value) ||
                     (roles.in_place && other.use == Use::read && is_in_place(result.value, other.value)),
                 "I12", place, "writes to value ", result.value, ", whose memory is that of value ", other.value,
                 is_result(other.use) ? ", to which it writes too" : ", which it reads");
      });
    });
  }

 private:
  static bool is_result(Use use) {
    return use == Use::written || use == Use::changed || use == Use::overwritten || use == Use::grown;
  }
  bool meet(std::uint32_t a, std::uint32_t b) {
    return m_.tensor(a) && m_.tensor(b) && places_.overlap(places_.content(a), places_.content(b), work_);
  }
  bool is_in_place(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t x = places_.content(a), y = places_.content(b);
    const auto ranges = places_.ranges();
    const bool same = x == y || (x < ranges.size() && y < ranges.size() && ranges[x] == ranges[y]);
    return same && places_.is_static(x) && places_.is_static(y) && same_layout(*m_.tensor(a), *m_.tensor(b));
  }

  // Whether each tensor that a value may be begins where `out` is planned.
  bool begins_at(const pte::Tensor& out, std::uint32_t v) const {
    if (!places_.is_handle(v)) return same_beginning(out, *m_.tensor(v));
    const pte::AllocationDetails& a = *out.allocation_info();
    bool all = places_.content(v) != Places::nowhere && !places_.is_constant(v);
    places_.each_range(places_.content(v),
                       [&](const Range& r) { all &= r.memory == a.memory_id() && r.begin == planned_offset(a); });
    return all;
  }

  void view(const Effect& e, const pte::Tensor& out, const Place& place) {
    const pte::Tensor& self = *m_.tensor(e.other);
    const bool own = is_constant(out) || places_.is_input(e.value) || (!out.allocation_info() && !name_of(out).empty());
    f_.check(!own && (!out.allocation_info() || begins_at(out, e.other)), "T27", place, "makes value ", e.value,
             " a view of value ", e.other, ", but it has memory elsewhere");
    f_.check(!is_static(out) || !is_static(self) || bytes_of(out) == bytes_of(self), "T27", place, "makes value ",
             e.value, " of ", bytes_of(out), " bytes a view of value ", e.other, " of ", bytes_of(self));
  }

  void move(const Effect& e, const pte::Tensor& to, const Place& place) {
    f_.check(!is_constant(to), "T15", place, "moves a tensor to value ", e.value, ", which is a constant");
    f_.check(!places_.is_input(e.value), "I18", place, "moves a tensor to value ", e.value, ", which is an input");
  }

  const Method& m_;
  const Places& places_;
  Work& work_;
  Findings& f_;
};

void check_inputs(const Method& m, const Places& places, std::span<std::uint8_t> seen, const Place& plan, Findings& f) {
  for (std::uint32_t i = 0; i < m.plan().inputs()->size(); ++i) {
    const auto v = static_cast<std::uint32_t>(m.plan().inputs()->Get(i));
    if (!m.tensor(v)) continue;
    const Place place = plan.in("input", i);
    f.check(!seen[v], "M12", place, "is value ", v, ", which an earlier input is");
    f.check(!places.is_constant(v), "T15", place, "is value ", v, ", which is a constant");
    seen[v] = 1;
  }
}

// Tensors of one name are one tensor.
void check_names(const Method& m, std::span<std::uint32_t> named, const Place& plan, Findings& f) {
  std::size_t n = 0;
  for (std::uint32_t v = 0; v < m.values(); ++v)
    if (const pte::Tensor* t = m.tensor(v); t && !is_constant(*t) && !name_of(*t).empty()) named[n++] = v;
  const auto name = [&](std::uint32_t v) { return name_of(*m.tensor(v)); };
  named = named.first(n);
  sort_by(named, name);
  each_repeated(std::span<const std::uint32_t>(named), name, [&](std::uint32_t first, std::uint32_t v) {
    f.check(same_place(*m.tensor(v), *m.tensor(first)), "T26", plan.in("value", v), "has the name ", Quoted{name(v)},
            " of value ", first, ", but is elsewhere");
  });
}

}  // namespace

void check_memory(const Method& m, const Places& places, const Place& plan, Workspace& workspace, Work& work,
                  Findings& f) {
  const Workspace::Scope scope(workspace);
  const auto named = workspace.take<std::uint32_t>(m.values());
  const auto seen = workspace.take<std::uint8_t>(m.values());
  if (!has_room(workspace, f)) return;
  check_names(m, named, plan, f);
  check_inputs(m, places, seen, plan, f);
  MemoryCheck check(m, places, work, f);
  for (std::uint32_t i = 0; i < m.instructions(); ++i) {
    const InstructionPlace at(m, i, plan);
    each_effect(m, m.instruction(i), [&](const Effect& e) { check.effect(e, at.here); });
    const auto* call = m.kernel_call(i);
    if (const OperatorRoles* roles = call ? m.roles(*call) : nullptr; roles && !roles->has(Use::viewed))
      check.overlaps(*roles, *call, at.here);
  }
}

}  // namespace assay::format
