#include "conformance/sandbox/probe.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "conformance/sandbox/child.h"
#include "conformance/sandbox/death.h"
#include "conformance/sandbox/entropy.h"
#include "conformance/sandbox/guarded_memory.h"
#include "conformance/sandbox/heap.h"
#include "conformance/sandbox/recover.h"
#include "conformance/testee/copied.h"
#include "reference/fault.h"

namespace assay::sandbox {
namespace {

TensorPlan plan_of(const Tensor& t) { return {t.dtype, t.sizes, t.dim_order, 0}; }

std::string element_name(std::string_view list, std::size_t k) { return concat(list, "[", k, "]"); }

// What calls may use before the process should be replaced: addresses and blocks are never reused.
constexpr std::size_t most_addresses = std::size_t{1} << 35, most_memory = std::size_t{1} << 26,
                      most_blocks = QuarantineHeap::most_blocks / 4;

constexpr std::size_t most_refusals =
    8;  // the number of allocations of one call that are made to fail, one after the other

// Fills the stack below this frame, where the next call will have its frames.
[[gnu::noinline]] void fill_stack(std::byte byte) {
  std::array<std::byte, 1 << 14> frame;
  frame.fill(byte);
  asm volatile("" : : "r"(frame.data()) : "memory");
}

// Each out has its own fill pattern.
std::uint64_t seed_of(std::uint64_t call, std::size_t out) { return call + (out << 40); }

verdict::Class class_of(const Damage& damage) {
  if (damage.kind == Damage::Kind::freed) return verdict::Class::uses_freed;
  return damage.kind == Damage::Kind::freed_twice ? verdict::Class::double_free : verdict::Class::heap_damage;
}

// Compares by memcmp: the standard library compares std::byte one by one.
bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

void put_down(Observation& seen, verdict::Class conduct, std::string violation) {
  seen.conduct = conduct, seen.violation = std::move(violation);
}

bool look_at_heap(Observation& seen) {
  const auto found = heap::damage();
  if (!found) return heap::retire_freed(), false;
  put_down(seen, class_of(*found),
           describe(*found, concat("a block of ", found->size, " bytes that the library allocated")));
  return seen.spoilt = true;
}

using Adjoins = GuardedMemory::Adjoins;

// The conditions under which a call is made.
struct Conditions {
  FillPattern pattern = FillPattern::first;
  Adjoins adjoins = Adjoins::behind;
  bool read_only = false;              // inputs are
  std::size_t refused_allocation = 0;  // the number of the allocation that fails; 0: none
};

// One call in its own guarded memory.
class Run {
 public:
  Run(GuardedRegions& regions, const Operator& op, std::span<const Value> arguments, const OutPlan& plan,
      const Conditions& conditions, std::uint64_t seed)
      : op_(op),
        arguments_(arguments),
        conditions_(conditions),
        pattern_(conditions.pattern),
        seed_(seed),
        memory_(regions, conditions.pattern, conditions.adjoins) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < op.arguments.size(); ++i)
      host_.push_back(op.arguments[i].out ? place_out(op.arguments[i], plan.at(out++))
                                          : place_input(op.arguments[i], arguments[i]));
    if (conditions.read_only) memory_.make_inputs_read_only();
  }

  Observation call(testee::KernelLibrary& library, bool recovers_from_aborts) {
    seed_entropy(seed_);
    library.fill_memory(fill_byte(pattern_));
    fill_stack(fill_byte(pattern_));
    const auto start = std::chrono::steady_clock::now();
    Observation seen;
    bool returned = true;
    {
      std::optional<heap::Watch> watch;
      if (library.may_crash()) watch.emplace(fill_byte(pattern_), conditions_.refused_allocation);
      const auto call = [&] { seen.reply = library.call(op_, host_); };
      if (recovers_from_aborts)
        returned = recovers_from_abort(call);
      else
        call();
    }
    if (!returned) lose();
    seen.reply.message = std::string(std::as_const(seen.reply.message));  // in memory that counts as no leak
    seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    look_around(seen);
    if (seen.reply.outcome == Outcome::ok && resized_beyond_memory().empty())
      for (const testee::TensorView& out : outs()) seen.outs.push_back(testee::copied(out));
    return seen;
  }

 private:
  using Trespass = GuardedMemory::Trespass::Kind;

  // The reply of a call that aborted.
  [[noreturn]] void lose() const {
    if (memory_.damage() || heap::damage()) std::abort();
    throw Lost{TaskResult::End::recovered, SIGABRT, death_of(SIGABRT).text};
  }

  // The side effects of the call, the most serious first.
  void look_around(Observation& seen) const {
    if (const auto given = memory_.damage())
      put_down(seen, verdict::Class::writes_out_of_bounds, *given);
    else if (std::string resized = resized_beyond_memory(); !resized.empty())
      put_down(seen, verdict::Class::writes_out_of_bounds, std::move(resized));
    else if (memory_.trespass() == Trespass::write)
      put_down(seen, verdict::Class::writes_out_of_bounds, memory_.describe_trespass());
    seen.spoilt = seen.conduct != verdict::Class::none;
    for (std::size_t i = 0; i < host_.size() && seen.conduct == verdict::Class::none; ++i)
      if (!op_.arguments[i].out && changed(arguments_[i], host_[i]))
        put_down(seen, verdict::Class::changes_input, concat(op_.arguments[i].name, " was changed by the call"));
    if (seen.conduct != verdict::Class::none || memory_.trespass() == Trespass::none) return;
    put_down(seen,
             memory_.trespass() == Trespass::write_to_input ? verdict::Class::changes_input
                                                            : verdict::Class::reads_out_of_bounds,
             memory_.describe_trespass());
  }

  std::string resized_beyond_memory() const {
    for (const testee::TensorView& out : outs())
      if (out.bytes() > out.capacity)
        return concat("an out of ", out.capacity, " bytes was resized to ", out.sizes, ", which takes ", out.bytes());
    return {};
  }

  std::vector<testee::TensorView> outs() const {
    std::vector<testee::TensorView> all;
    for (std::size_t i = 0; i < host_.size(); ++i) {
      if (!op_.arguments[i].out) continue;
      if (const auto* one = std::get_if<testee::TensorView>(&host_[i])) all.push_back(*one);
      if (const auto* list = std::get_if<testee::TensorViews>(&host_[i]))
        for (const auto& view : *list) all.push_back(view.value_or(testee::TensorView{}));
    }
    return all;
  }

  testee::TensorView place(std::string name, const TensorPlan& plan, GuardedMemory::Role role) {
    testee::TensorView view{plan.dtype, plan.sizes, plan.dim_order, nullptr, 0};
    view.capacity = std::max(view.bytes(), plan.room);
    view.data = memory_.add(std::move(name), view.capacity, role);
    return view;
  }

  testee::TensorView place_out(std::string name, const TensorPlan& plan) {
    const testee::TensorView view = place(std::move(name), plan, GuardedMemory::Role::out);
    fill({view.data, view.capacity}, pattern_, view.dtype, seed_of(seed_, outs_++));
    return view;
  }

  testee::HostValue place_out(const SchemaArgument& argument, const std::vector<TensorPlan>& plan) {
    if (argument.is_out_number())
      return place_out(std::string(argument.name), plan_of(tensor_of(0.0)));  // can hold a number of any kind
    if (!argument.type.ends_with("[]")) return place_out(std::string(argument.name), plan.at(0));
    testee::TensorViews views;
    for (std::size_t k = 0; k < plan.size(); ++k)
      views.emplace_back(place_out(element_name(argument.name, k), plan[k]));
    return views;
  }

  testee::TensorView place_tensor(std::string name, const Tensor& tensor) {
    const testee::TensorView view = place(std::move(name), plan_of(tensor), GuardedMemory::Role::input);
    std::copy_n(tensor.bytes.data(), tensor.bytes.size(), view.data);
    return view;
  }

  testee::HostValue place_input(const SchemaArgument& argument, const Value& value) {
    return std::visit(
        [&]<class T>(const T& v) -> testee::HostValue {
          if constexpr (std::is_same_v<T, Tensor>) {
            return place_tensor(std::string(argument.name), v);
          } else if constexpr (std::is_same_v<T, Tensors>) {
            testee::TensorViews views(v.size());
            for (std::size_t k = 0; k < v.size(); ++k)
              if (v[k]) views[k] = place_tensor(element_name(argument.name, k), *v[k]);
            return views;
          } else {
            return v;
          }
        },
        value);
  }

  static bool changed(const Tensor& before, const testee::TensorView& after) {
    return !same_bytes(before.bytes, {after.data, before.bytes.size()});
  }

  static bool changed(const Value& before, const testee::HostValue& after) {
    if (const Tensor* t = std::get_if<Tensor>(&before)) return changed(*t, std::get<testee::TensorView>(after));
    const Tensors* list = std::get_if<Tensors>(&before);
    for (std::size_t k = 0; list && k < list->size(); ++k)
      if ((*list)[k] && changed(*(*list)[k], *std::get<testee::TensorViews>(after)[k])) return true;
    return false;
  }

  const Operator& op_;
  std::span<const Value> arguments_;
  Conditions conditions_;
  FillPattern pattern_;
  std::uint64_t seed_;
  std::size_t outs_ = 0;
  GuardedMemory memory_;
  std::vector<testee::HostValue> host_;
};

bool same_metadata(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.dim_order == b.dim_order;
}

// The elements of an out that two runs left unwritten, and whether all other elements are equal.
struct Comparison {
  bool equal = true;
  Int unwritten = 0, first = 0;  // the number of unwritten elements, and the first of them in memory order
};

Comparison compare(const Tensor& one, const Tensor& other, std::uint64_t seed) {
  Comparison c;
  if (same_bytes(one.bytes, other.bytes)) return c;
  std::vector<std::byte> before(one.bytes.size()), before_other(one.bytes.size());
  fill(before, FillPattern::first, one.dtype, seed);
  fill(before_other, FillPattern::second, one.dtype, seed);
  const auto size = static_cast<std::size_t>(info(one.dtype).bytes);
  for (std::size_t at = 0; at < one.bytes.size(); at += size) {
    const auto same = [&](const auto& a, const auto& b) { return std::memcmp(&a[at], &b[at], size) == 0; };
    if (same(one.bytes, other.bytes)) continue;
    if (!same(one.bytes, before) || !same(other.bytes, before_other))
      c.equal = false;
    else if (c.unwritten++ == 0)
      c.first = static_cast<Int>(at / size);
  }
  return c;
}

// Compares replies without the text of a refusal: the text may contain addresses.
bool same_reply(const Observation& one, const Observation& other) {
  return one.reply.outcome == other.reply.outcome && std::ranges::equal(one.outs, other.outs, same_metadata);
}

// Whether two runs gave the same answer, apart from unwritten elements, which are recorded.
bool agree(Observation& one, const Observation& other, std::uint64_t seed, const FreeOuts& free) {
  if (!same_reply(one, other)) return false;
  for (std::size_t k = 0; k < one.outs.size(); ++k) {
    if (is_free(free, k)) continue;
    const Comparison c = compare(one.outs[k], other.outs[k], seed_of(seed, k));
    if (!c.equal) return false;
    if (c.unwritten > 0 && one.conduct == verdict::Class::none)
      put_down(one, verdict::Class::unwritten,
               concat(c.unwritten, " elements were never written, the first is element ", c.first, " of out ", k));
  }
  return true;
}

// A plan with larger or with smaller sizes than `plan`; `plan` itself if there is no such plan.
TensorPlan larger(TensorPlan plan) {
  constexpr Int most = 1 << 20;  // elements
  Dims sizes = plan.sizes;
  for (Int& n : sizes) ++n;
  if (count(sizes) <= most) plan.sizes = sizes;
  return plan;
}
TensorPlan smaller(TensorPlan plan) {
  if (count(plan.sizes) > 0 && plan.sizes.size() > 0) --plan.sizes[0];
  return plan;
}
TensorPlan smaller_with_room(TensorPlan plan) {
  plan.room = static_cast<std::size_t>(count(plan.sizes) * info(plan.dtype).bytes);
  return smaller(std::move(plan));
}
OutPlan replanned(OutPlan plan, TensorPlan (*change)(TensorPlan)) {
  for (auto& tensors : plan) std::ranges::transform(tensors, tensors.begin(), change);
  return plan;
}

std::size_t elements(const OutPlan& plan) {
  std::size_t all = 0;
  for (const auto& tensors : plan)
    for (const TensorPlan& t : tensors) all += static_cast<std::size_t>(count(t.sizes));
  return all;
}

bool same_outs(const Observation& one, const Observation& other, const FreeOuts& free) {
  bool same = same_reply(one, other);
  for (std::size_t k = 0; same && k < one.outs.size(); ++k)
    same = is_free(free, k) || same_bytes(one.outs[k].bytes, other.outs[k].bytes);
  return same;
}

// All runs of one call, and what they tell together.
class Inquiry {
 public:
  Inquiry(testee::KernelLibrary& library, GuardedRegions& regions, const ProcessSize& process, const Operator& op,
          std::span<const Value> arguments, const OutPlan& outs, std::uint64_t seed, const FreeOuts& free,
          bool recovers_from_aborts)
      : library_(library),
        regions_(regions),
        process_(process),
        op_(op),
        arguments_(arguments),
        outs_(outs),
        seed_(seed),
        free_(free),
        recovers_from_aborts_(recovers_from_aborts) {}

  Observation observe() {
    const std::size_t size_before = process_.bytes();
    Observation first = run({});
    if (first.conduct != verdict::Class::none) return look_at_heap(first), first;
    const std::size_t kept = kept_;
    const Conditions hard{FillPattern::second, seed_ & 2 ? Adjoins::before : Adjoins::none, true, 0};
    const bool changes_outs =
        !sizes_of_outs(seed_).empty() && first.reply.outcome == Outcome::ok && library_.takes_outs_of_other_sizes();
    Observation second = changes_outs ? run_with_other_outs(hard) : run(hard);
    if (second.conduct != verdict::Class::none) put_down(first, second.conduct, second.violation);
    first.spoilt = second.spoilt;
    if (look_at_heap(first) || first.conduct != verdict::Class::none) return first;
    if (!agree(first, second, seed_, free_)) return explain(std::move(first), std::move(second), hard, changes_outs);
    if (first.conduct == verdict::Class::none && ((kept > 0 && kept_ > 0) || process_.bytes() > size_before))
      seek_leak(first);
    return first;
  }

  // Repeats an answered call under harder conditions. There the answer must be the same; when an allocation fails, a
  // refusal is right, too. The first condition with another answer becomes the observation.
  Observation press(Observation plain) {
    const auto pressed = [&](const OutPlan& plan, std::string circumstance, std::size_t refused = 0) {
      const Circumstance told(circumstance);
      Observation seen = run({.refused_allocation = refused}, plan);
      if (seen.conduct == verdict::Class::none) look_at_heap(seen);
      seen.circumstance = std::move(circumstance), seen.seconds = plain.seconds;
      return seen;
    };
    Observation seen = pressed(replanned(outs_, larger), "with outs planned larger");
    if (seen.conduct != verdict::Class::none || !same_outs(plain, seen, free_)) return seen;

    if (const OutPlan small = replanned(outs_, smaller); elements(small) < elements(outs_)) {
      seen = pressed(small, "with too little memory for outs");
      if (seen.conduct == verdict::Class::none && seen.reply.outcome == Outcome::ok)
        put_down(seen, verdict::Class::shape, "the call is answered, though its outs do not fit");
      if (seen.conduct != verdict::Class::none) return seen;
    }

    for (std::size_t nth = 1; nth <= most_refusals; ++nth) {
      seen = pressed(outs_, concat("with allocation ", nth, " refused"), nth);
      if (seen.conduct != verdict::Class::none) return seen;
      if (!heap::has_refused()) break;
      if (seen.reply.outcome == Outcome::exhausted || same_outs(plain, seen, free_)) continue;
      if (seen.reply.outcome != Outcome::ok)
        put_down(seen, verdict::Class::refused_though_valid,
                 concat("where memory is missing it is to be refused as exhausted, not as ", name(seen.reply.outcome)));
      return seen;
    }
    return plain;
  }

 private:
  Observation run(const Conditions& conditions) { return run(conditions, outs_); }

  // Each repeat finds the memory of earlier runs protected. The first run need not: what it uses of an earlier call,
  // the second run uses, too.
  Observation run(const Conditions& conditions, const OutPlan& outs) {
    if (std::exchange(is_repeat_, true)) regions_.retire_earlier();
    const std::size_t before = heap::live();
    Observation seen = Run(regions_, op_, arguments_, outs, conditions, seed_).call(library_, recovers_from_aborts_);
    const std::size_t after = heap::live();
    kept_ = after > before ? after - before : 0;
    return seen;
  }

  Observation run_with_other_outs(const Conditions& conditions) {
    const Circumstance told(sizes_of_outs(seed_));
    return run(conditions, replanned(outs_, sizes_of_outs(seed_) == larger_outs ? larger : smaller_with_room));
  }

  // Why two runs gave two answers. `changed_outs`: whether the outs of the second had other sizes than the result.
  Observation explain(Observation first, Observation second, const Conditions& of_second, bool changed_outs) {
    if (changed_outs) {
      Observation plain = run(of_second);
      if (plain.conduct == verdict::Class::none && agree(first, plain, seed_, free_) && !look_at_heap(first)) {
        if (first.conduct != verdict::Class::none) return first;
        if (same_reply(first, second)) {
          put_down(first, verdict::Class::not_repeatable,
                   "the values of the answer depend on the sizes with which outs come");
          return first;
        }
        second.circumstance = sizes_of_outs(seed_), second.seconds = first.seconds;
        return second;
      }
    }
    const Observation third = run({});
    first.spoilt = third.spoilt;
    const bool repeats = same_outs(first, third, free_);
    if (look_at_heap(first)) return first;
    if (third.conduct != verdict::Class::none)
      put_down(first, third.conduct, third.violation);
    else if (!repeats)
      put_down(first, verdict::Class::not_repeatable, "two runs of the same call gave two answers");
    else if (const Observation filled = run({.pattern = FillPattern::second}); agree(first, filled, seed_, free_))
      put_down(first, verdict::Class::depends_on_addresses,
               "the answer depends on the addresses of tensors, which are aligned to 16 bytes");
    else
      put_down(first, verdict::Class::reads_uninitialised,
               "the answer depends on what memory held that nobody had written to");
    return first;
  }

  // A library may keep memory in some calls, as a cache does. A leak keeps memory in each.
  void seek_leak(Observation& seen) {
    std::size_t kept = 0;
    for (int i = 0; i < repeats_for_leaks; ++i) {
      const std::size_t size_before = process_.bytes();
      if (run({}).conduct != verdict::Class::none) return;
      const std::size_t size_after = process_.bytes();
      const std::size_t more = kept_ + (size_after > size_before ? size_after - size_before : 0);
      if (more == 0) return;
      kept += more;
    }
    put_down(seen, verdict::Class::leaks,
             concat("each of ", repeats_for_leaks, " repeats keeps memory, together ", kept, " bytes"));
  }

  static constexpr int repeats_for_leaks = 16;

  testee::KernelLibrary& library_;
  GuardedRegions& regions_;
  const ProcessSize& process_;
  const Operator& op_;
  std::span<const Value> arguments_;
  const OutPlan& outs_;
  std::uint64_t seed_;
  const FreeOuts& free_;
  bool recovers_from_aborts_;
  bool is_repeat_ = false;
  std::size_t kept_ = 0;  // the bytes of the heap that the last run has not freed
};

}  // namespace

// A kernel that aborts on outs of other sizes must still show its values, so that a quarter of the calls have such
// outs.
std::string_view sizes_of_outs(std::uint64_t seed) {
  return (seed & 12) != 0 ? "" : seed & 1 ? larger_outs : smaller_outs;
}

bool is_free(const FreeOuts& free, std::size_t out) { return !free.empty() && free[std::min(out, free.size() - 1)]; }

OutPlan plan_outs(const Operator& op, std::span<const Value> arguments) {
  OutPlan plan;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    if (!op.arguments[i].out) continue;
    std::vector<TensorPlan>& tensors = plan.emplace_back();
    if (const Tensor* one = std::get_if<Tensor>(&arguments[i])) tensors.push_back(plan_of(*one));
    if (const Tensors* list = std::get_if<Tensors>(&arguments[i]))
      for (const auto& t : *list) tensors.push_back(plan_of(t.value()));
  }
  return plan;
}

Observation Probe::observe(const Operator& op, std::span<const Value> arguments, const OutPlan& outs,
                           std::uint64_t seed, const FreeOuts& free) {
  Inquiry inquiry(library_, regions_, process_, op, arguments, outs, seed, free, recovers_from_aborts_);
  Observation seen = inquiry.observe();
  const bool presses = is_thorough_ && seen.conduct == verdict::Class::none && seen.circumstance.empty() &&
                       seen.reply.outcome == Outcome::ok;
  return presses ? inquiry.press(std::move(seen)) : seen;
}

bool Probe::is_spent() const {
  return regions_.used() > most_addresses || heap::used() > most_memory || heap::blocks_used() > most_blocks;
}

void Probe::handle_faults() { handler_.emplace(regions_); }

}  // namespace assay::sandbox
