#pragma once

#include "format/check.h"
#include "format/check_method.h"
#include "format/flow_jumps.h"

// The rules of data flow. Each function reports every fault that it finds. Each function requires that the functions
// declared before it found no fault.
namespace assay::format {

// The position of an instruction, for faults.
struct InstructionPlace {
  InstructionPlace(const Method& m, std::uint32_t i, const Place& plan)
      : chain(plan.in("chain", m.position(i).chain)), here(chain.in("instruction", m.position(i).index)) {}
  InstructionPlace(const InstructionPlace&) = delete;

  Place chain, here;
};

std::string_view name_of(ArgumentKind kind);  // "a Tensor"

// Checks I9, I10, and a part of I18: lists and strings must not be moved. The effects of a method may be enumerated
// only after this check.
void check_calls(const Method& m, const Place& plan, Findings& findings);
// Checks I10, I15 and V9, which concern the types of numbers.
void check_numbers(const Method& m, const Places& places, const Place& plan, Workspace& workspace, Work& work,
                   Findings& findings);
// Checks T15, T25 to T27, I12, I18, I19 and M12, which concern the memory that instructions write to.
void check_memory(const Method& m, const Places& places, const Place& plan, Workspace& workspace, Work& work,
                  Findings& findings);
// Checks a part of T16: rows must be appended one directly after the other.
void check_rows(const Method& m, const Jumps& jumps, const Place& plan, Findings& findings);
// Checks I21.
void check_termination(const Method& m, const Places& places, const Jumps& jumps, const Place& plan,
                       Workspace& workspace, Work& work, Findings& findings);

}  // namespace assay::format
