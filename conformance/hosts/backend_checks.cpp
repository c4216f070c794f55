#include "conformance/hosts/backend_checks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/adapters/registered_backends.h"
#include "conformance/files/same.h"
#include "conformance/sandbox/heap.h"
#include "conformance/sandbox/misconduct.h"
#include "reference/array.h"
#include "reference/fault.h"

namespace assay::hosts {
namespace {

using adapters::WithConditions;
using sandbox::Misconduct;
using verdict::Class;
using Make = std::function<std::unique_ptr<Delegate>()>;
using Values = std::vector<Value>;

Values results(Delegate& delegate, std::span<const Value> arguments) {
  Values values(arguments.begin(), arguments.end());
  delegate.execute(values);
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(delegate.inputs()));
  return values;
}

void require_same(const Values& a, const Values& b, Class failure, std::string_view when) {
  if (!std::ranges::equal(a, b, files::same)) throw Misconduct{failure, concat("gives other results ", when)};
}

// The arguments with the elements of each input in reverse order.
Values other(std::span<const Value> arguments) {
  Values all(arguments.begin(), arguments.end());
  for (Value& value : all)
    if (auto* t = std::get_if<Tensor>(&value); t && !t->bytes.empty()) {
      Array<Element> elements = read<Element>(*t);
      std::ranges::reverse(elements.data);
      write(elements, *t);
    }
  return all;
}

// Two delegates of the same payload do not know each other, and one outlives the other.
void check_instances(const Make& make, std::span<const Value> arguments) {
  const Values reversed = other(arguments);
  const Values right = results(*make(), arguments), right_reversed = results(*make(), reversed);
  const auto first = make();
  {
    const auto second = make();
    require_same(results(*first, arguments), right, Class::spoils_state, "while another delegate exists");
    require_same(results(*first, reversed), right_reversed, Class::spoils_state, "after a call with other inputs");
    require_same(results(*second, reversed), right_reversed, Class::spoils_state, "after a call of another delegate");
    require_same(results(*first, arguments), right, Class::spoils_state, "after a call of another delegate");
  }
  require_same(results(*first, arguments), right, Class::spoils_state, "after another delegate was destroyed");
}

constexpr int repeats = 8;

// What each repeat of f keeps of the heap.
template <class F>
void require_no_leak(F f, std::string_view what) {
  std::size_t kept = 0;
  f();
  for (int i = 0; i < repeats; ++i) {
    const std::size_t before = sandbox::heap::live();
    f();
    const std::size_t after = sandbox::heap::live();
    if (after <= before) return;
    kept += after - before;
  }
  throw Misconduct{Class::leaks, concat("each of ", repeats, ' ', what, " keeps memory, together ", kept, " bytes")};
}

void check_leaks(const Make& make, std::span<const Value> arguments) {
  const WithConditions watched({.watches_heap = true});
  {
    const auto delegate = make();
    require_no_leak([&] { results(*delegate, arguments); }, "executions");
  }
  require_no_leak([&] { results(*make(), arguments); }, "delegates");
}

// Lets allocations fail, one at a time: the first, the last, and some between. `fail(n)` repeats the same work, lets
// allocation n fail, and returns whether there was one.
template <class F>
void each_failure(F fail) {
  constexpr std::size_t at_an_end = 16;
  std::size_t last = 0, none = 1;  // allocation `last` exists, allocation `none` does not
  for (; fail(none); none += none < at_an_end ? 1 : none) last = none;
  while (none - last > 1) {
    const std::size_t between = last + (none - last) / 2;
    (fail(between) ? last : none) = between;
  }
  for (std::size_t n = std::max(at_an_end, last - std::min(last, at_an_end)) + 1; n < last; ++n) fail(n);
}

// Where memory is missing, a function answers as usual or refuses as exhausted.
template <class F>
bool is_answered_without(std::size_t allocation, F f) {
  const WithConditions conditions({.watches_heap = true, .refused_allocation = allocation});
  try {
    f();
    return true;
  } catch (const Fault& fault) {
    if (!sandbox::heap::has_refused() || fault.outcome == Outcome::exhausted) return false;
    throw Misconduct{Class::refused_though_valid,
                     concat("where memory is missing, it is to be refused as exhausted: ", fault.message)};
  }
}

void check_allocations(const Make& make, std::span<const Value> arguments) {
  const Values right = results(*make(), arguments);
  each_failure([&](std::size_t n) {
    std::unique_ptr<Delegate> made;
    const bool answered = is_answered_without(n, [&] { made = make(); });
    const bool refused = sandbox::heap::has_refused();
    if (answered)
      require_same(results(*made, arguments), right, Class::value,
                   concat("if allocation ", n, " fails while the delegate is made"));
    return refused;
  });
  const auto delegate = make();
  each_failure([&](std::size_t n) {
    Values given;
    const bool answered = is_answered_without(n, [&] { given = results(*delegate, arguments); });
    const bool refused = sandbox::heap::has_refused();
    if (answered) require_same(given, right, Class::value, concat("if allocation ", n, " of an execution fails"));
    require_same(results(*delegate, arguments), right, Class::spoils_state,
                 concat("after an execution in which allocation ", n, " failed"));
    return refused;
  });
}

// Each thread has a delegate of its own. A thread executes it until both have done so often enough, so that neither
// ends before the other has begun.
void check_threads(const Make& make, std::span<const Value> arguments) {
  constexpr int rounds = 200;
  const WithConditions plain({.guards_arguments = false});
  struct Work {
    std::unique_ptr<Delegate> delegate;
    Values arguments, right;
    std::atomic<int> done = 0;
    int wrong = 0;
  };
  std::array<Work, 2> work;
  work[0].arguments.assign(arguments.begin(), arguments.end()), work[1].arguments = other(arguments);
  for (Work& w : work) w.right = results(*make(), w.arguments), w.delegate = make();
  const auto run = [&work](Work& w) {
    while (std::ranges::any_of(work, [](const Work& any) { return any.done < rounds; })) {
      w.wrong += !std::ranges::equal(results(*w.delegate, w.arguments), w.right, files::same);
      ++w.done;
    }
  };
  std::thread second(run, std::ref(work[1]));
  run(work[0]);
  second.join();
  if (const int wrong = work[0].wrong + work[1].wrong)
    throw Misconduct{Class::not_repeatable, concat(wrong, " of ", work[0].done + work[1].done,
                                                   " executions give other results while "
                                                   "another thread executes another delegate")};
}

// No byte behind an input is read.
void check_reads(const Make& make, std::span<const Value> arguments) {
  const WithConditions tight({.readable_behind = 0});
  results(*make(), arguments);
}

constexpr std::array checks = std::to_array<BackendCheck>({
    {"instances", check_instances},
    {"leaks", check_leaks},
    {"allocations", check_allocations},
    {"threads", check_threads},
    {"reads", check_reads},
});

}  // namespace

std::span<const BackendCheck> backend_checks() { return checks; }

}  // namespace assay::hosts
