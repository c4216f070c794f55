#pragma once

#include "format/places.h"

// Where the instructions of a method lead: jumps, and the loops that the exporter makes of a map or a scan.
namespace assay::format {

class Jumps {
 public:
  // An instruction to which there are jumps, from `first` to `last`; or the end.
  struct Target {
    std::uint32_t at, first, last;
  };
  // A number that counts how often a loop ran: from 0, one more for each time, until it is what the loop ends with, and
  // then 0 again, behind the loop. So it is what it was in the file whenever an execution begins.
  struct Counter {
    std::uint32_t value, end;   // what counts, and the number to which
    std::uint32_t begin, jump;  // the first and last instruction of the loop
  };

  Jumps(const Method& method, const Places& places, std::uint32_t jumps, Workspace& workspace, Work& work);

  // A jump on what no instruction writes is always the same.
  bool may_jump(const pte::JumpFalseCall& j) const { return !is_fixed(j) || !fixed_condition(j); }
  bool may_pass(const pte::JumpFalseCall& j) const { return !is_fixed(j) || fixed_condition(j); }

  std::span<const Target> targets() const { return targets_; }  // in order
  const Counter* counter(std::uint32_t value) const;            // null: counts no loop

  // Whether instruction i adds each row behind the one before it, so that none is left unwritten: by an index that is
  // 0, or by one that counts a loop in which nothing passes the instruction by and nothing else writes to those bytes.
  bool adds_row_by_row(std::uint32_t i, const Effect& e) const;
  // Whether these are, behind the loop, all rows of a static tensor.
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
  std::int64_t known_number(std::uint32_t value) const;  // -1: not known
  bool is_closed(const Counter& c) const;

  const Method& m_;
  const Places& places_;
  Work& work_;
  std::span<Target> targets_;
  std::span<Counter> counters_;
};

// Whether an instruction from `first` to before `last` writes to the value or to bytes of it.
bool is_written_between(const Method& m, const Places& places, std::uint32_t value, std::uint32_t first,
                        std::uint32_t last, Work& work);

}  // namespace assay::format
