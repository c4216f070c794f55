#include "format/flow_jumps.h"

#include <array>

namespace assay::format {
namespace {

// The arguments of instruction i, if it calls this operator with three arguments; else null.
const flatbuffers::Vector<std::int32_t>* call_of(const Method& m, std::uint32_t i, std::string_view name) {
  const auto* call = i < m.instructions() ? m.kernel_call(i) : nullptr;
  const OperatorRoles* roles = call ? m.roles(*call) : nullptr;
  return roles && roles->name == name && call->args()->size() == 3 ? call->args() : nullptr;
}

}  // namespace

bool is_written_between(const Method& m, const Places& places, std::uint32_t value, std::uint32_t first,
                        std::uint32_t last, Work& work) {
  bool written = false;
  for (std::uint32_t i = first; i < last && !written && work.left > 0; ++i)
    each_effect(m, m.instruction(i), [&](const Effect& e) {
      written |= work.take(1) && writes(e.use) &&
                 (e.value == value || places.overlap(places.content(e.value), places.content(value), work));
    });
  return written;
}

Jumps::Jumps(const Method& method, const Places& places, std::uint32_t jumps, Workspace& workspace, Work& work)
    : m_(method),
      places_(places),
      work_(work),
      targets_(workspace.take<Target>(jumps)),
      counters_(workspace.take<Counter>(jumps)) {
  if (workspace.counts_only() || !workspace.has_room()) return;
  if (jumps == 0) return;
  find_targets();
  find_counters();
}

void Jumps::find_targets() {
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < m_.instructions(); ++i)
    if (const auto* j = m_.jump(i); j && may_jump(*j)) targets_[n++] = {m_.target(i, *j), i, i};
  std::ranges::sort(targets_.first(n), {}, &Target::at);
  std::size_t distinct = 0;
  for (const Target& t : targets_.first(n)) {
    if (distinct == 0 || targets_[distinct - 1].at != t.at) targets_[distinct++] = t;
    Target& all = targets_[distinct - 1];
    all = {t.at, std::min(all.first, t.first), std::max(all.last, t.last)};
  }
  targets_ = targets_.first(distinct);
}

const Jumps::Counter* Jumps::counter(std::uint32_t value) const {
  const auto found = std::ranges::lower_bound(counters_, value, {}, &Counter::value);
  return found != counters_.end() && found->value == value ? &*found : nullptr;
}

// add(c, 1, c), eq(c, n, done), jump to the beginning unless done, sub(c, n, c).
void Jumps::find_counters() {
  std::size_t n = 0;
  for (std::uint32_t i = 2; i < m_.instructions(); ++i) {
    const auto* jump = m_.jump(i);
    const auto* step = jump ? call_of(m_, i - 2, "executorch_prim::add.Scalar") : nullptr;
    const auto* test = step ? call_of(m_, i - 1, "executorch_prim::eq.Scalar") : nullptr;
    if (!test || m_.target(i, *jump) > i - 2) continue;
    const Counter c{static_cast<std::uint32_t>(step->Get(0)), static_cast<std::uint32_t>(test->Get(1)),
                    m_.target(i, *jump), i};
    if (work_.take(i - c.begin + 1) && counts(c) && is_closed(c)) counters_[n++] = c;
  }
  counters_ = counters_.first(n);
  std::ranges::sort(counters_, {}, &Counter::value);
  // A value is no counter if another instruction also writes it. `jump` 0 marks such a value.
  const auto is_other = [&](const Counter& c, std::uint32_t i) { return i != c.jump - 2 && i != c.jump + 1; };
  for (std::uint32_t i = 0; i < m_.instructions() && n > 0; ++i)
    each_effect(m_, m_.instruction(i), [&](const Effect& e) {
      if (!writes(e.use)) return;
      auto c = std::ranges::lower_bound(counters_, e.value, {}, &Counter::value);
      for (; c != counters_.end() && c->value == e.value; ++c)
        if (is_other(*c, i)) c->jump = 0;
    });
  const auto gone = std::remove_if(counters_.begin(), counters_.end(), [](const Counter& c) { return c.jump == 0; });
  counters_ = {counters_.begin(), gone};
}

bool Jumps::counts(const Counter& c) const {
  const auto *step = call_of(m_, c.jump - 2, "executorch_prim::add.Scalar"),
             *test = call_of(m_, c.jump - 1, "executorch_prim::eq.Scalar"),
             *back = call_of(m_, c.jump + 1, "executorch_prim::sub.Scalar");
  const auto are = [](const auto& args, std::uint32_t a, std::uint32_t b, std::uint32_t result) {
    return std::ranges::equal(items(&args), std::array{a, b, result}, {},
                              [](auto i) { return static_cast<std::uint32_t>(i); });
  };
  const auto one = static_cast<std::uint32_t>(step->Get(1)),
             done = static_cast<std::uint32_t>(m_.jump(c.jump)->cond_value_index());
  const auto* zero = m_.value(c.value).val_as_Int();
  return zero && zero->int_val() == 0 && known_number(one) == 1 && are(*step, c.value, one, c.value) &&
         are(*test, c.value, c.end, done) && back && are(*back, c.value, c.end, c.value) && c.end != c.value &&
         !is_written_between(m_, places_, c.end, c.begin, c.jump + 2, work_);
}

// An Int that no instruction writes, or to which only the size of a static tensor is written.
std::int64_t Jumps::known_number(std::uint32_t value) const {
  const auto* number = m_.value(value).val_as_Int();
  if (!number) return -1;
  if (!places_.may_change(value)) return number->int_val();
  std::int64_t size = -1;
  for (std::uint32_t i = 0; i < m_.instructions(); ++i) {
    if (!is_written_between(m_, places_, value, i, i + 1, work_)) continue;
    const auto* of = call_of(m_, i, "aten::sym_size.int");
    const pte::Tensor* t = of ? m_.tensor(static_cast<std::uint32_t>(of->Get(0))) : nullptr;
    const auto* dim = of ? m_.value(static_cast<std::uint32_t>(of->Get(1))).val_as_Int() : nullptr;
    if (size != -1 || !t || !is_static(*t) || !dim || places_.may_change(static_cast<std::uint32_t>(of->Get(1))) ||
        dim->int_val() < 0 || dim->int_val() >= size_of(t->sizes()))
      return -1;
    size = t->sizes()->Get(static_cast<std::uint32_t>(dim->int_val()));
  }
  return size;
}

// Only the loop's own jump leads out of the loop, jumps into the loop lead to its beginning, and no jump skips its
// test.
bool Jumps::is_closed(const Counter& c) const {
  for (std::uint32_t i = c.begin; i < c.jump; ++i)
    if (const auto* j = m_.jump(i); j && may_jump(*j) && (m_.target(i, *j) < c.begin || m_.target(i, *j) >= c.jump))
      return false;
  const auto first = std::ranges::upper_bound(targets_, c.begin, {}, &Target::at),
             last = std::ranges::upper_bound(targets_, c.jump + 1, {}, &Target::at);
  return std::ranges::all_of(first, last, [&](const Target& t) { return t.first >= c.begin && t.last <= c.jump; });
}

bool Jumps::adds_row_by_row(std::uint32_t i, const Effect& e) const {
  if (known_number(e.other) == 0) return true;
  const Counter* c = counter(e.other);
  if (!c || i < c->begin || i + 2 >= c->jump) return false;
  for (std::uint32_t k = c->begin; k < i && work_.take(1); ++k)
    if (const auto* j = m_.jump(k); j && m_.target(k, *j) > i) return false;
  return !is_written_between(m_, places_, e.value, c->begin, i, work_) &&
         !is_written_between(m_, places_, e.value, i + 1, c->jump + 1, work_);
}

bool Jumps::adds_all_rows(std::uint32_t i, const Effect& e) const {
  const auto& sizes = *m_.tensor(e.value)->sizes();
  const Counter* c = counter(e.other);
  const std::int64_t rows = c ? known_number(c->end) : 1;
  return sizes.size() > 0 && sizes.Get(0) == rows && adds_row_by_row(i, e);
}

}  // namespace assay::format
