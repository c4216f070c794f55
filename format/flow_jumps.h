#pragma once

#include "format/flow_places.h"

// The jumps of a method, and the loops that the exporter makes from a map or a scan.
namespace assay::format {

class Jumps {
 public:
  // A target of jumps: an instruction, or the end of the method. `first` and `last` are the first and the last jump to
  // it.
  struct Target {
    std::uint32_t at, first, last;
  };
  // A number that counts the iterations of a loop from 0 to `end` in steps of 1. After the loop it is set to 0 again.
  // Therefore it is 0 whenever an execution begins, as the file states.
  struct Counter {
    std::uint32_t value, end;   // the indices of the counter's value and of the value that is the number of iterations
    std::uint32_t begin, jump;  // the first and the last instruction of the loop
  };

  Jumps(const Method& method, const Places& places, std::uint32_t jumps, Workspace& workspace, Work& work);

  // may_jump: whether the instruction may jump. may_pass: whether it may continue with the next instruction. If the
  // condition is a Bool that no instruction writes, exactly one of the two is possible.
  bool may_jump(const pte::JumpFalseCall& j) const { return !is_fixed(j) || !fixed_condition(j); }
  bool may_pass(const pte::JumpFalseCall& j) const { return !is_fixed(j) || fixed_condition(j); }

  std::span<const Target> targets() const { return targets_; }  // sorted by instruction
  const Counter* counter(std::uint32_t value) const;            // null if the value is not a counter

  // Requires that instruction i is a call of et_copy_index, which writes one row (the elements at one index of
  // dimension 0) of tensor e.value. Returns whether its executions write the rows 0, 1, 2, … without a gap. This holds
  // in two cases: the index is always 0; or the index is the counter of a loop, no jump in the loop skips the
  // instruction, and no other instruction of the loop writes to the bytes of the tensor.
  bool adds_row_by_row(std::uint32_t i, const Effect& e) const;
  // Whether all rows of a static tensor have been appended when the loop ends.
  bool adds_all_rows(std::uint32_t i, const Effect& e) const;

 private:
  bool is_fixed(const pte::JumpFalseCall& j) const {
    const auto condition = static_cast<std::uint32_t>(j.cond_value_index());
    return m_.type(condition) == pte::KernelTypes::Bool && !places_.may_change(condition);
  }
  bool fixed_condition(const pte::JumpFalseCall& j) const {
    return m_.value(static_cast<std::uint32_t>(j.cond_value_index())).val_as_Bool()->bool_val();
  }
  void find_targets();
  void find_counters();
  bool counts(const Counter& c) const;
  std::int64_t known_number(std::uint32_t value) const;  // the number, or -1 if it is not known
  bool is_closed(const Counter& c) const;

  const Method& m_;
  const Places& places_;
  Work& work_;
  std::span<Target> targets_;
  std::span<Counter> counters_;
};

// Whether an instruction in [first, last) writes to the value or to some of its bytes.
bool is_written_between(const Method& m, const Places& places, std::uint32_t value, std::uint32_t first,
                        std::uint32_t last, Work& work);

}  // namespace assay::format
