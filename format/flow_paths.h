#pragma once

#include "format/bits.h"
#include "format/flow_jumps.h"

namespace assay::format {

// A forward data flow analysis. It finds the facts that hold before each instruction on every path to the instruction.
// They are the greatest fixed point over the jumps of a method. A state is an array of words, and each bit is a fact. A
// jump passes its state to its target, which keeps the intersection of all states that reach it. A target keeps a state
// only from the first jump to it until the last, so that memory is proportional to the depth of nested jumps in a
// method, and not to the number of its instructions.
class Paths {
 public:
  struct Memory {
    std::span<std::uint64_t> states;
    std::span<std::uint32_t> slots, free;  // indexed by target

    Memory(std::uint64_t words, std::uint32_t jumps, Workspace& workspace)
        : states(workspace.take<std::uint64_t>(words)),
          slots(workspace.take<std::uint32_t>(std::uint64_t{jumps} + 1)),
          free(workspace.take<std::uint32_t>(std::uint64_t{jumps} + 1)) {}
  };

  Paths(const Method& method, const Jumps& jumps, const Memory& memory, Work& work)
      : m_(method), targets_(jumps.targets()), jumps_(jumps), memory_(memory), work_(work), states_(1 + most_kept()) {}

  // Returns the largest number of words of a state for which the memory suffices.
  std::size_t most_words() const { return memory_.states.size() / states_; }

  // Runs the analysis with states of `words` words. begin() turns zeros into the state at the beginning of the method.
  // visit(i, final) is called for each reachable instruction and for the end of the method. It must change the state in
  // now() from the state before the instruction to the state after it. If `final` is false, a later visit may find
  // fewer facts.
  template <class Begin, class Visit>
  void run(std::size_t words, Begin begin, Visit visit);
  std::span<std::uint64_t> now() const { return memory_.states.first(words_); }

 private:
  static constexpr std::uint32_t none = 0;

  std::size_t index_of(std::uint32_t at) const {  // the index of the first target at or after `at`
    return static_cast<std::size_t>(std::ranges::lower_bound(targets_, at, {}, &Jumps::Target::at) - targets_.begin());
  }
  bool begins_loop(std::size_t k) const { return targets_[k].last >= targets_[k].at; }
  std::uint32_t end_of_loop(std::size_t k) const;  // the end of all loops that begin within the loop of target k
  std::size_t most_kept() const;

  std::span<std::uint64_t> kept(std::size_t k) const {
    return memory_.states.subspan(memory_.slots[k] * words_, words_);
  }
  void keep(std::size_t k, bool back);
  void release(std::size_t k);
  void arrive(bool in_loop);
  template <class Visit>
  void sweep(std::uint32_t begin, std::uint32_t end, bool in_loop, bool final, Visit& visit);

  const Method& m_;
  std::span<const Jumps::Target> targets_;
  const Jumps& jumps_;
  Memory memory_;
  Work& work_;
  std::size_t states_, words_ = 0;
  std::size_t next_ = 0, free_ = 0;     // the next target; the number of free slots
  bool reached_ = true, less_ = false;  // whether the current instruction is reached; whether a jump back removed facts
};

template <class Begin, class Visit>
void Paths::run(std::size_t words, Begin begin, Visit visit) {
  words_ = words, next_ = free_ = 0, reached_ = true;
  std::ranges::fill(now(), 0);
  begin();
  std::ranges::fill(memory_.slots, none);
  for (std::size_t s = states_; s-- > 1;) memory_.free[free_++] = static_cast<std::uint32_t>(s);
  for (std::uint32_t i = 0; i <= m_.instructions();) {
    const std::size_t k = next_;
    if (k == targets_.size() || targets_[k].at != i || !begins_loop(k)) {
      sweep(i, i + 1, false, true, visit);
      ++i;
      continue;
    }
    const std::uint32_t end = end_of_loop(k);
    do {
      less_ = false;
      sweep(i, end, true, false, visit);
      next_ = k, reached_ = false;  // the slot of k keeps the state at the loop's beginning
    } while (less_ && work_.left > 0);
    sweep(i, end, true, true, visit);
    for (std::size_t t = k; t < next_; ++t) release(t);
    i = end;
  }
}

template <class Visit>
void Paths::sweep(std::uint32_t begin, std::uint32_t end, bool in_loop, bool final, Visit& visit) {
  for (std::uint32_t i = begin; i < end; ++i) {
    if (next_ < targets_.size() && targets_[next_].at == i) arrive(in_loop);
    if (!reached_) continue;
    visit(i, final);
    const auto* jump = i < m_.instructions() ? m_.jump(i) : nullptr;
    if (!jump) continue;
    if (const std::uint32_t to = m_.target(i, *jump); jumps_.may_jump(*jump)) keep(index_of(to), to <= i);
    reached_ = jumps_.may_pass(*jump);
  }
}

}  // namespace assay::format
