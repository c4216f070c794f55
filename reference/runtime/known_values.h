#pragma once

#include <optional>
#include <vector>

#include "format/flow_effects.h"
#include "reference/value.h"

namespace assay {

// The values of a method before it runs. A tensor has no elements. Charges the budget of the scope.
class KnownValues {
 public:
  // `method` must outlive this object.
  explicit KnownValues(const format::Method& method);

  // The value `i` of the plan. Sizes that the program only bounds are unknown. Returns nothing if only an execution
  // knows the value.
  std::optional<Value> operator[](std::uint32_t i) const { return value(i, Facts::known); }

  // The value `i` as the file states it: a tensor has the upper bounds of its sizes, and a number that an instruction
  // or the caller replaces is the number in the file.
  Value stated(std::uint32_t i) const { return value(i, Facts::stated).value_or(Value()); }

 private:
  enum class Facts : std::uint8_t { known, stated };

  void take(const format::Effect& effect);
  bool is_missing(std::uint32_t i, Facts facts) const { return facts == Facts::known && replaced_[i]; }
  std::optional<Value> value(std::uint32_t i, Facts facts) const;
  std::optional<Value> integers(Ints list, Facts facts) const;
  std::optional<Value> tensors(const Ints& list, Facts facts) const;

  const format::Method& method_;
  std::vector<bool> replaced_;  // for each value, whether an input or an instruction replaces it
  std::vector<std::uint32_t> moved_to_;
  bool moves_keep_layouts_ = true;  // each moved tensor is declared like the target of the move
};

}  // namespace assay
