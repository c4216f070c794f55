#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "format/view.h"
#include "reference/budget.h"
#include "reference/fault.h"

// Instructions as text. Works on every program that opens; an index without a target is shown as a number.
namespace assay::inspect {

// The first `most` tables of a list that may be absent. (clang 14 has no working views.)
template <class T>
struct TableRange {
  struct Iterator {
    const flatbuffers::Vector<flatbuffers::Offset<T>>* list;
    std::uint32_t i;

    const T& operator*() const { return *list->Get(i); }
    Iterator& operator++() { return ++i, *this; }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {list, 0}; }
  Iterator end() const { return {list, std::min(format::size_of(list), most)}; }

  const flatbuffers::Vector<flatbuffers::Offset<T>>* list;
  std::uint32_t most;
};
template <class T>
TableRange<T> tables(const flatbuffers::Vector<flatbuffers::Offset<T>>* list, std::uint32_t most = 0xFFFFFFFF) {
  return {list, most};
}

struct Operand {
  enum class Role : std::uint8_t { input, output, either };  // either: only a delegate's payload knows

  std::string_view name;  // the name in the schema; empty if there is none
  Int value;              // index among the plan's values
  Role role;
};

constexpr std::string_view name(Operand::Role role) {
  constexpr std::string_view names[] = {"input", "output", "either"};
  return names[static_cast<std::size_t>(role)];
}

struct Listed {
  std::string name;  // "aten::add.out", or of the other kinds "DelegateCall", "MoveCall", "JumpFalseCall", "FreeCall"
  Buffer<Operand> operands;   // each once: the values that the operator returns are not repeated
  std::optional<Int> target;  // of a jump
  std::optional<Int> delegate;
};

// Charges work for each operand.
Listed listed(const pte::ExecutionPlan& plan, const pte::Instruction& instruction);

std::string cut_name(const pte::Operator& op);  // the name in the file, cut if it is longer than any operator's

bool is_known(const pte::Operator& op);  // whether the reference has it
// Whether the operator works on handles, not on values: every runtime has it, no kernel library has it.
bool works_on_handles(const pte::Operator& op);

// The value; null if the plan has none with this index.
const pte::EValue* value_at(const pte::ExecutionPlan& plan, Int index);
const pte::Tensor* tensor_at(const pte::ExecutionPlan& plan,
                             Int index);  // null if there is no such value or it is not a tensor

// Calls f with the index of a tensor, or of each tensor in a list. Charges work for each tensor of a list.
template <class F>
void each_tensor(const pte::ExecutionPlan& plan, Int index, F f) {
  const auto* value = value_at(plan, index);
  if (!value) return;
  const auto* tensors = value->val_as_TensorList();
  const auto* optional_tensors = value->val_as_OptionalTensorList();
  if (value->val_as_Tensor()) f(index);
  for (const auto* list :
       {tensors ? tensors->items() : nullptr, optional_tensors ? optional_tensors->items() : nullptr}) {
    Budget::Scope::work(format::size_of(list));
    for (const std::int32_t i : format::items(list))
      if (tensor_at(plan, i)) f(Int{i});
  }
}

}  // namespace assay::inspect
