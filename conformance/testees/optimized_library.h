#pragma once

#include "conformance/testees/library.h"

namespace assay {

// The kernels of the optimized runtime, one call at a time; where none takes a call, its fallback does. A call's
// operands are what a program would have as constants, and its outs have the sizes of the results.
class OptimizedLibrary final : public KernelLibrary {
 public:
  std::string_view name() const override { return "optimized"; }
  std::vector<std::pair<std::string, std::string>> facts() const override;
  bool has(const Operator& op) const override;
  Reply call(const Operator& op, std::span<HostValue> arguments) override;
};

}  // namespace assay
