#include "format/flow.h"

#include "format/flow_paths.h"
#include "format/flow_rules.h"

namespace assay::format {
namespace {

constexpr std::uint64_t state_bytes = std::uint64_t{8}
                                      << 20;  // a larger analysis looks at one part of the cells at a time

// No exporter's program comes near this limit, and it takes at most some seconds.
constexpr std::uint64_t most_ever = std::uint64_t{1} << 28;
std::uint64_t most_steps(const ProgramView& program) {
  std::uint64_t size = 0;
  for (std::uint32_t i = 0; i < size_of(program.tables->execution_plan()); ++i) {
    const pte::ExecutionPlan& plan = *program.tables->execution_plan()->Get(i);
    size += size_of(plan.values());
    for (const pte::Chain* chain : *plan.chains()) size += chain->instructions()->size();
  }
  return std::min((std::uint64_t{1} << 24) + 1024 * size, most_ever);
}

std::uint64_t most_cells(const Places::Counts& c) { return std::uint64_t{c.values} + c.aliases; }
std::uint64_t state_words(const Places::Counts& c) {
  const std::uint64_t states = std::uint64_t{2} * (c.jumps + 1);
  return std::min(states * Bits::words(most_cells(c)), std::max(states, state_bytes / sizeof(std::uint64_t)));
}

// Two facts per cell: defined (its last write reaches this instruction) and assigned (it was written, even if it was
// written over later).
class Flow {
 public:
  Flow(const Method& m, const Places& places, const Jumps& jumps, Paths& paths, Bits state, Bits live, Work& work)
      : m_(m), places_(places), jumps_(jumps), paths_(paths), state_(state), live_(live), work_(work) {}

  // Reports each cell that is read without being defined.
  void check(const Place& plan, Findings& findings) {
    plan_ = &plan, findings_ = &findings;
    each_part([&] { pass(Aim::check); });
  }
  // Adds to `live` the cells that are live into the method. The method keeps the rules.
  void find_live() {
    each_part([&] { pass(Aim::live); });
  }

 private:
  enum class Aim : std::uint8_t { state, check, live };

  template <class F>
  void each_part(F f) {
    const std::size_t all = static_cast<std::size_t>(Bits::words(places_.cells())), most = paths_.most_words() / 2;
    for (std::size_t w = 0; w < all && work_.left > 0; w += words_) {
      words_ = std::min(most, all - w), first_ = w * 64;
      if (may_have_state()) pass(Aim::state);
      f();
    }
  }

  // A cell that may be state is state if it is defined at the end whenever it is defined at the beginning.
  bool may_have_state() {
    bool any = false;
    for (std::uint32_t v = 0; v < m_.values(); ++v) {
      const std::uint32_t c = places_.content(v);
      if (!places_.may_be_state(v) || c >= places_.ranges().size() || !is_seen(c)) continue;
      state_.set(c);
      any = true;
    }
    return any;
  }

  void pass(Aim aim) {
    paths_.run(
        2 * words_, [&] { begin(aim != Aim::live); },
        [&](std::uint32_t i, bool final) {
          aim_ = final ? aim : Aim::state;
          i < m_.instructions() ? step(i) : end();
        });
  }

  void begin(bool with_state) {
    for (std::uint32_t v = 0; v < m_.values(); ++v) {
      const std::uint32_t c = places_.content(v);
      if (with_state && places_.may_be_state(v) && c < places_.ranges().size() && state_.test(c)) write(v);
      if (places_.is_assigned(v) && (places_.is_input(v) || jumps_.counter(v))) define(c);
    }
    for (const std::int32_t v : *m_.plan().inputs())
      if (m_.tensor(static_cast<std::uint32_t>(v))) write(static_cast<std::uint32_t>(v));
  }

  void step(std::uint32_t i) {
    const pte::Instruction& instruction = m_.instruction(i);
    const bool delegates = instruction.instr_args_type() == pte::InstructionArguments::DelegateCall;
    if (aim_ != Aim::state) each_effect(m_, instruction, [&](const Effect& e) { require(e, i); });
    if (aim_ != Aim::state && delegates) require_inputs(instruction, i);
    bool outputs = false;  // a delegate's outputs, which come behind its inputs
    each_effect(m_, instruction, [&](const Effect& e) {
      if (!work_.take(1)) return;
      outputs |= delegates && !is_defined(places_.content(e.value));
      apply(e, outputs);
      const auto* c = e.use == Use::written ? jumps_.counter(e.value) : nullptr;
      if (c && i == c->jump + 1) define_rows(*c);
    });
  }

  void end() {
    for (std::uint32_t k = 0; k < m_.plan().outputs()->size() && aim_ != Aim::state; ++k)
      if (const auto v = static_cast<std::uint32_t>(m_.plan().outputs()->Get(k)); !is_readable(v))
        missing(v, m_.instructions(), [&](auto tell) { tell(plan_->in("output", k)); });
    for (std::size_t c = first_; aim_ == Aim::state && c < std::min(first_ + words_ * 64, places_.ranges().size()); ++c)
      if (!is_defined(c)) state_.clear(c);
  }

  // -- what instructions do ------------------------------------------------------------------------------------------

  void apply(const Effect& e, bool is_output) {
    switch (e.use) {
      case Use::read:
      case Use::asked:
        return;
      case Use::changed:
        return change(e.value);
      case Use::overwritten:
        return places_.is_own(e.value) ? write(e.value) : change(e.value);
      case Use::written:
        return write(e.value);
      case Use::grown:
        return grow(e);
      case Use::viewed:
      case Use::returned:
      case Use::moved:
        return alias(e.value, e.other);
      case Use::freed:
        return free(e.value);
      case Use::either:
        return is_output || !is_defined(places_.content(e.value)) ? write(e.value) : change(e.value);
    }
  }

  // A write of all bytes: views of the tensor become defined, other tensors in these bytes become undefined.
  void write(std::uint32_t v) {
    const std::uint32_t content = places_.content(v);
    clear_others(content);
    define(content);
    define(places_.views_of(content));
  }
  // A change in place: all tensors of the same bytes stay defined.
  void change(std::uint32_t v) {
    const std::uint32_t content = places_.content(v);
    overwrite(content, [](std::size_t, std::size_t) { return true; });
    define(content);
    define(places_.views_of(content));
  }
  void clear_others(std::uint32_t content) {
    const bool fixed = places_.holds_tensors(content) && places_.is_static(content);
    overwrite(content, [&](std::size_t written, std::size_t c) {
      return fixed && (c == written || c == places_.views_of(static_cast<std::uint32_t>(written)));
    });
  }
  // A tensor of bounded shape has the rows that were added; a static tensor is defined only behind the loop.
  void grow(const Effect& e) {
    const std::uint32_t content = places_.content(e.value);
    if (!is_static(*m_.tensor(e.value)) || !jumps_.counter(e.other)) return write(e.value);
    clear_others(content);
  }
  void define_rows(const Jumps::Counter& c) {
    for (std::uint32_t i = c.begin; i < c.jump; ++i)
      each_effect(m_, m_.instruction(i), [&](const Effect& e) {
        if (e.use == Use::grown && e.other == c.value && jumps_.adds_all_rows(i, e)) write(e.value);
      });
  }
  void alias(std::uint32_t v, std::uint32_t of) {
    if (places_.handle(v) != Places::nowhere)
      define(places_.handle(v));
    else if (places_.content(v) != places_.content(of))
      define(places_.content(v));
  }
  void free(std::uint32_t v) {
    overwrite(places_.content(v), [](std::size_t, std::size_t) { return false; });
    undefine(places_.content(v));
  }

  // Undefines the cells that overlap the ranges in which a content is or may be. A cell of the same bytes stays defined
  // if stays(range cell, that cell).
  template <class Stays>
  void overwrite(std::uint32_t content, Stays stays) {
    if (!places_.holds_tensors(content)) return;
    places_.each_range(content, [&](const Range& r) {
      if (!work_.take(1)) return;
      overwrite_ranges(r, stays);
      overwrite_handles(r, content, stays);
    });
  }
  // Defined cells overlap only if they are the same bytes. So only the neighbours of a range need a look.
  template <class Stays>
  void overwrite_ranges(const Range& r, Stays stays) {
    const auto ranges = places_.ranges();
    const std::size_t at = index_of(r);
    Bits defined = this->defined();
    const auto overlaps = [&](std::size_t seen) {
      const std::size_t c = first_ + seen;
      if (c >= ranges.size() || !ranges[c].overlaps(r)) return false;
      if (!(ranges[c] == r && stays(at, c))) defined.clear(seen);
      return true;
    };
    for (std::size_t c = defined.previous(seen_from(at)); c != Bits::none && overlaps(c);) c = defined.previous(c);
    for (std::size_t c = defined.next(seen_from(at + 1)); c != Bits::none && overlaps(c);) c = defined.next(c + 1);
  }
  template <class Stays>
  void overwrite_handles(const Range& r, std::uint32_t self, Stays stays) {
    if (places_.contents_end() == places_.ranges().size()) return;
    Bits defined = this->defined();
    for (std::size_t seen = defined.next(seen_from(places_.ranges().size())); seen != Bits::none;
         seen = defined.next(seen + 1)) {
      const auto c = static_cast<std::uint32_t>(first_ + seen);
      if (c >= places_.contents_end() || work_.left == 0) return;
      bool is_left = true;
      places_.each_range(c, [&](const Range& h) {
        is_left &= work_.take(1) && (!h.overlaps(r) || (h == r && stays(index_of(r), index_of(h))));
      });
      if (c != self && !is_left) defined.clear(seen);
    }
  }

  // -- what instructions require -------------------------------------------------------------------------------------

  bool is_made(std::uint32_t v) const {
    return !places_.is_handle(v) ||
           (places_.handle(v) != Places::nowhere ? is_defined(places_.handle(v)) : is_assigned(places_.content(v)));
  }
  bool is_readable(std::uint32_t v) const { return is_made(v) && is_defined(places_.content(v)); }
  bool is_sized(std::uint32_t v) const {
    const pte::Tensor* t = m_.tensor(v);
    return is_made(v) && (!t || (is_static(*t) && t->allocation_info()) || is_assigned(places_.content(v)));
  }

  bool holds(const Effect& e, std::uint32_t i) const {
    switch (e.use) {
      case Use::read:
      case Use::changed:
      case Use::freed:
        return is_readable(e.value);
      case Use::asked:
      case Use::overwritten:
        return is_sized(e.value);
      case Use::grown:
        return is_readable(e.value) ||
               (is_made(e.value) && (!is_static(*m_.tensor(e.value)) || jumps_.adds_all_rows(i, e)));
      case Use::written:
        return is_made(e.value);
      case Use::either:  // it may be read, so it is live
        return is_made(e.value) && (aim_ != Aim::live || is_readable(e.value));
      default:
        return true;
    }
  }

  void require(const Effect& e, std::uint32_t i) {
    if (!holds(e, i)) missing(e.value, i, [&](auto tell) { tell(InstructionPlace(m_, i, *plan_).here); });
  }

  // A delegate's outputs come behind its inputs, such as a constant.
  void require_inputs(const pte::Instruction& call, std::uint32_t i) {
    std::uint32_t given = Places::nowhere;
    each_effect(m_, call, [&](const Effect& e) {
      if (given == Places::nowhere && m_.tensor(e.value) && !is_defined(places_.content(e.value))) given = e.value;
      if (given != Places::nowhere && places_.is_constant(e.value))
        missing(given, i, [&](auto tell) { tell(InstructionPlace(m_, i, *plan_).here); });
    });
  }

  // Instruction i, or the end of the method, uses value v.
  template <class AtPlace>
  void missing(std::uint32_t v, std::uint32_t i, AtPlace at_place) {
    const std::uint32_t content = places_.content(v);
    if (aim_ == Aim::live) {
      if (content < places_.ranges().size() && state_.test(content)) live_.set(content);
    } else {
      at_place([&](const Place& place) { report(v, i, place); });
    }
    define(content), define(places_.handle(v));  // so that it is reported once
  }

  void report(std::uint32_t v, std::uint32_t i, const Place& place) {
    const pte::Tensor* t = m_.tensor(v);
    if (!t || !is_made(v)) {
      findings_->check(false, "I20", place, "uses value ", v, ", which is not assigned on every path to here");
    } else if (!is_assigned(places_.content(v))) {
      findings_->check(false, "T16", place, "uses value ", v, ", which is not written on every path to here");
    } else if (is_unbounded(*t)) {
      findings_->check(false, "I19", place, "uses value ", v, ", which is freed on a path to here");
    } else {
      Text writer;
      if (const std::uint32_t at = overwriter(v, i); at < m_.instructions()) {
        writer.add(" by ");
        InstructionPlace(m_, at, *plan_).here.write(writer);
      }
      findings_->check(false, "T13", place, "uses value ", v, ", whose memory is written over", writer.view(),
                       writer.view().empty() ? "" : ",", " on a path to here");
    }
  }

  // The last instruction before instruction i that writes over bytes of value v; after the first instruction the search
  // continues at the end, as a loop does. The number of instructions if the search finds none within its limit.
  std::uint32_t overwriter(std::uint32_t v, std::uint32_t i) const {
    const std::uint32_t n = m_.instructions();
    Work search{1 << 18};
    for (std::uint32_t k = 1; k <= n && search.take(1); ++k)
      if (const std::uint32_t at = (i + n - k) % n; writes_over(at, places_.content(v), search)) return at;
    return n;
  }
  bool writes_over(std::uint32_t i, std::uint32_t content, Work& search) const {
    bool any = false;
    each_effect(m_, m_.instruction(i), [&](const Effect& e) {
      const bool stores = writes(e.use) && !is_alias(e.use);
      any |= stores && search.take(1) && m_.tensor(e.value) && places_.content(e.value) != content &&
             places_.overlap(places_.content(e.value), content, search);
    });
    return any;
  }

  std::size_t index_of(const Range& r) const { return static_cast<std::size_t>(&r - places_.ranges().data()); }

  // -- cells: all facts hold for the cells outside of the part that is looked at -------------------------------------

  bool is_seen(std::size_t c) const { return c >= first_ && c < first_ + words_ * 64; }
  std::size_t seen_from(std::size_t c) const { return std::clamp(c, first_, first_ + words_ * 64) - first_; }
  Bits defined() const { return Bits(paths_.now().first(words_)); }
  Bits assigned() const { return Bits(paths_.now().subspan(words_)); }
  bool is_defined(std::size_t c) const { return !is_seen(c) || defined().test(c - first_); }
  bool is_assigned(std::size_t c) const { return !is_seen(c) || assigned().test(c - first_); }
  void define(std::size_t c) {
    if (!is_seen(c)) return;
    defined().set(c - first_);
    assigned().set(c - first_);
  }
  void undefine(std::size_t c) {
    if (is_seen(c)) defined().clear(c - first_);
  }

  const Method& m_;
  const Places& places_;
  const Jumps& jumps_;
  Paths& paths_;
  Bits state_, live_;
  Work& work_;
  const Place* plan_ = nullptr;
  Findings* findings_ = nullptr;
  std::size_t first_ = 0, words_ = 0;
  Aim aim_ = Aim::state;
};

// A method whose calls keep their rules, its places and jumps, and the memory to follow its paths.
struct Analysis {
  Places places;
  Jumps jumps;
  Paths::Memory memory;
  Bits state, live;

  Analysis(const Method& m, const Places::Counts& counts, Workspace& workspace, Work& work)
      : places(m, counts, workspace, work),
        jumps(m, places, counts.jumps, workspace, work),
        memory(state_words(counts), counts.jumps, workspace),
        state(workspace.take<std::uint64_t>(Bits::words(most_cells(counts)))),
        live(workspace.take<std::uint64_t>(Bits::words(most_cells(counts)))) {}
};

// Visits all effects of the method some ten times before it follows the paths.
void check_method(const pte::ExecutionPlan& plan, const Place& place, Workspace& workspace, Work& work, Findings& f) {
  const Workspace::Scope scope(workspace);
  const auto before = f.count();
  const Places::Counts counts(plan);
  const Method m(plan, workspace);
  if (!workspace.counts_only()) {
    if (!has_room(workspace, f)) return;
    if (work.take(10 * count_effects(m))) check_calls(m, place, f);
    if (work.left == 0 || f.count() > before) return;
  }
  Analysis a(m, counts, workspace, work);
  check_numbers(m, a.places, place, workspace, work, f);
  check_memory(m, a.places, place, workspace, work, f);
  check_termination(m, a.places, a.jumps, place, workspace, work, f);
  if (!has_room(workspace, f)) return;
  check_rows(m, a.jumps, place, f);
  if (f.count() == before) {
    Paths paths(m, a.jumps, a.memory, work);
    Flow(m, a.places, a.jumps, paths, a.state, a.live, work).check(place, f);
  }
}

}  // namespace

void check_flow(const ProgramView& program, Workspace& workspace, Findings& findings) {
  const std::uint64_t most = most_steps(program);
  Work work{most};
  for (std::uint32_t i = 0; i < size_of(program.tables->execution_plan()) && work.left > 0; ++i) {
    const Place place = place_of_plan(*program.tables, i);
    check_method(*program.tables->execution_plan()->Get(i), place, workspace, work, findings);
    findings.check(work.left > 0, "H16", place, "with those before it, its data flow takes more than ", most,
                   " steps to analyse");
  }
}

void each_state(const ProgramView&, const pte::ExecutionPlan& plan, Workspace& workspace, TellState tell,
                void* listener) {
  Work work{most_ever};
  const Workspace::Scope scope(workspace);
  const Method m(plan, workspace);
  Analysis a(m, Places::Counts(plan), workspace, work);
  if (workspace.counts_only() || !workspace.has_room()) return;
  Paths paths(m, a.jumps, a.memory, work);
  Flow(m, a.places, a.jumps, paths, a.state, a.live, work).find_live();
  for (std::uint32_t v = 0; v < m.values(); ++v)
    if (const std::uint32_t c = a.places.content(v);
        !a.places.is_handle(v) && c < a.places.ranges().size() && a.live.test(c))
      tell(listener, v);
}

}  // namespace assay::format
