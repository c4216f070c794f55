#pragma once

#include "conformance/adapters/optimized/testee.h"
#include "conformance/testee/library.h"
#include "optimized/kernels/instruction_set.h"

namespace assay {

// The kernels of the optimized runtime, one call at a time, its outs of the sizes that they are given with; where no
// kernel takes a call, its fallback does.
class OptimizedLibrary final : public KernelLibrary {
 public:
  // What kernels are told of a call's operands before it: that a program has them as constants, that their sizes are
  // fixed, or that these may be smaller than those that are declared.
  enum class Operands { constant, fixed, moving };
  // Without the fallback, what no kernel takes is unsupported. The testee as its words have it.
  explicit OptimizedLibrary(Operands operands = Operands::constant, bool fallback = true,
                            const OptimizedTestee& testee = {})
      : operands_(operands),
        fallback_(fallback),
        set_(testee.instruction_set.empty() ? kernels::best_instruction_set()
                                            : kernels::find_instruction_set(testee.instruction_set)),
        relaxed_(testee.relaxed) {}

  std::string_view name() const override { return "optimized"; }
  std::vector<std::pair<std::string, std::string>> facts() const override;
  std::vector<std::string> kernels() const override;  // the operators that have one
  bool has(const Operator& op) const override;
  Reply call(const Operator& op, std::span<HostValue> arguments) override;
  bool may_crash() const override { return fallback_; }  // kernels alone allocate nothing that could be watched

 private:
  Reply call_fallback(const Operator& op, std::span<HostValue> arguments, const Reply& reply) const;

  Operands operands_;
  bool fallback_;
  std::optional<kernels::InstructionSet> set_;
  bool relaxed_;
};

}  // namespace assay
