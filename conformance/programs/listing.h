#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/program/unpacked.h"

// Instructions in words. Works on every program that decodes; an index that leads nowhere is shown as it is.
namespace assay {

struct Operand {
  enum class Role : std::uint8_t { input, output, either };  // either: only a delegate's payload says

  std::string name;  // the schema's; empty where there is none
  Int value;         // index among the plan's values
  Role role;
};

struct Listed {
  std::string name;  // "aten::add.out", or of the other kinds "DelegateCall", "MoveCall", "JumpFalseCall", "FreeCall"
  std::vector<Operand> operands;  // each once: not again as what the operator returns
  std::optional<Int> target;      // of a jump
  std::optional<Int> delegate;
};

Listed listed(const pte::ExecutionPlanT& plan, const pte::InstructionT& instruction);

// Whether the reference has it.
bool is_known_operator(std::string_view name);

// The value, null where the plan has none of this index.
const pte::KernelTypesUnion* value_at(const pte::ExecutionPlanT& plan, Int index);

// The tensors that a value is or lists.
std::vector<Int> tensors_of(const pte::ExecutionPlanT& plan, Int index);

}  // namespace assay
