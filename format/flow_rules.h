#pragma once

#include "format/check.h"
#include "format/jumps.h"
#include "format/method.h"

// The rules of data flow, by what they look at. Each reports all that it finds; the later ones rely on the earlier.
namespace assay::format {

// Where an instruction is.
struct InstructionPlace {
  InstructionPlace(const Method& m, std::uint32_t i, const Place& plan)
      : chain(plan.in("chain", m.position(i).chain)), here(chain.in("instruction", m.position(i).index)) {}
  InstructionPlace(const InstructionPlace&) = delete;

  Place chain, here;
};

std::string_view name_of(ArgumentKind kind);  // "a Tensor"

// I9, I10, and of I18 that lists and strings are not moved: from here on, effects can be asked for.
void check_calls(const Method& m, const Place& plan, Findings& findings);
// I10, I15, V9: the types of numbers.
void check_numbers(const Method& m, const Places& places, const Place& plan, Workspace& workspace, Work& work,
                   Findings& findings);
// T15, T25 to T27, I12, I18, I19, M12: what is written to, and where.
void check_memory(const Method& m, const Places& places, const Place& plan, Workspace& workspace, Work& work,
                  Findings& findings);
// Of T16, that rows are added one behind the other.
void check_rows(const Method& m, const Jumps& jumps, const Place& plan, Findings& findings);
// I21.
void check_termination(const Method& m, const Places& places, const Jumps& jumps, const Place& plan,
                       Workspace& workspace, Work& work, Findings& findings);

}  // namespace assay::format
