#pragma once

#include "conformance/adapters/optimized/testee.h"
#include "conformance/testee/binaries.h"
#include "conformance/testee/library.h"
#include "optimized/kernels/instruction_set.h"

namespace assay::adapters {

// The kernels of the optimized runtime, one call at a time. Outs have the sizes that they are given with.
class OptimizedLibrary final : public testee::KernelLibrary {
 public:
  // The facts about a call's operands that kernels get in advance: the operands are constants of the program, their
  // sizes are fixed, or their sizes may be smaller than declared.
  enum class Operands { constant, fixed, moving };
  // A call that no kernel accepts is unsupported. If the call breaks a rule and `words_refusals` is true, the reference
  // words the refusal. `testee` selects the instruction set and the arithmetic.
  explicit OptimizedLibrary(Operands operands = Operands::constant, bool words_refusals = true,
                            const OptimizedTestee& testee = {})
      : operands_(operands),
        words_refusals_(words_refusals),
        set_(testee.instruction_set.empty() ? kernels::best_instruction_set()
                                            : kernels::find_instruction_set(testee.instruction_set)),
        relaxed_(testee.relaxed) {}

  std::string_view name() const override { return "optimized"; }
  std::vector<std::pair<std::string, std::string>> facts() const override;
  std::vector<std::string> binaries() const override { return {testee::executable}; }
  std::vector<std::string> kernels() const override;  // the operators that have a kernel
  bool has(const Operator& op) const override;
  testee::Reply call(const Operator& op, std::span<testee::HostValue> arguments) override;
  bool takes_outs_of_other_sizes() const override { return false; }  // a method plans its outs
  bool runs_here() const override;
  bool may_crash() const override { return words_refusals_; }  // kernels allocate no memory that could be watched

 private:
  testee::Reply worded(const Operator& op, std::span<const testee::HostValue> arguments,
                       const testee::Reply& reply) const;

  Operands operands_;
  bool words_refusals_;
  std::optional<kernels::InstructionSet> set_;
  bool relaxed_;
};

}  // namespace assay::adapters
