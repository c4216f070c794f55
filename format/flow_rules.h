#pragma once

#include "format/check.h"
#include "format/check_method.h"
#include "format/flow_jumps.h"

// The rules of data flow. Each function reports everything that it finds. Later functions rely on earlier ones.
namespace assay::format {

// The place of an instruction.
struct InstructionPlace {
  InstructionPlace(const Method& m, std::uint32_t i, const Place& plan)
      : chain(plan.in("chain", m.position(i).chain)), here(chain.in("instruction", m.position(i).index)) {}
  InstructionPlace(const InstructionPlace&) = delete;

  Place chain, here;
};

std::string_view name_of(ArgumentKind kind);  // "a Tensor"

// I9, I10, and the part of I18 that lists and strings are not moved. Effects can be asked for from here on.
void check_calls(const Method& m, const Place& plan, Findings& findings);
// I10, I15, V9: the types of numbers.
void check_numbers(const Method& m, const Places& places, const Place& plan, Workspace& workspace, Work& work,
                   Findings& findings);
// T15, T25 to T27, I12, I18, I19, M12: the memory that instructions write to.
void check_memory(const Method& m, const Places& places, const Place& plan, Workspace& workspace, Work& work,
                  Findings& findings);
// The part of T16 that rows are added one behind the other.
void check_rows(const Method& m, const Jumps& jumps, const Place& plan, Findings& findings);
// I21.
void check_termination(const Method& m, const Places& places, const Jumps& jumps, const Place& plan,
                       Workspace& workspace, Work& work, Findings& findings);

}  // namespace assay::format
