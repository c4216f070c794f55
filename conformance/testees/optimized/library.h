#pragma once

#include "conformance/testees/library.h"
#include "conformance/testees/reference_library.h"

namespace assay {

// The kernels of the optimized runtime, without its fallback: what no kernel accepts, or declines, is unsupported.
// Arguments are what a program would have as constants; with `moving` sizes they are not, and a kernel is told that
// sizes may change, and that its tensors' are other than they are.
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

// The same with the fallback, which answers what they do not.
class OptimizedLibrary final : public KernelLibrary {
 public:
  std::string_view name() const override { return "optimized"; }
  std::vector<std::pair<std::string, std::string>> facts() const override;
  bool has(const Operator&) const override { return true; }
  Reply call(const Operator& op, std::span<HostValue> arguments) override;

 private:
  OptimizedKernels kernels_;
  ReferenceLibrary fallback_{{.bytes = Int{1} << 26}};  // what the judge takes, too
};

}  // namespace assay
