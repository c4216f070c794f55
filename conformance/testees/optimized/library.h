#pragma once

#include "conformance/testees/library.h"

namespace assay {

// The kernels of the optimized runtime, without its fallback: what no kernel accepts, or declines, is unsupported. With
// `moving` sizes a kernel is told that they may change, and that its tensors' are other than they are.
class OptimizedKernels final : public KernelLibrary {
 public:
  explicit OptimizedKernels(bool moving = false) : moving_(moving) {}

  std::string_view name() const override { return "optimized"; }
  std::vector<std::string> kernels() const override;
  bool has(const Operator& op) const override;
  Reply call(const Operator& op, std::span<HostValue> arguments) override;
  bool may_crash() const override { return false; }

 private:
  bool moving_;
};

}  // namespace assay
