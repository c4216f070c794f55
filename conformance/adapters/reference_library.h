#pragma once

#include "conformance/testee/binaries.h"
#include "conformance/testee/library.h"
#include "reference/call.h"

namespace assay {

// The reference behind the interface of a library under test. Its verdict on itself must always be pass.
class ReferenceLibrary : public KernelLibrary {
 public:
  explicit ReferenceLibrary(const Budget::Limits& limits = {}) : limits_(limits) {}

  std::string_view name() const override { return "reference"; }
  std::vector<std::string> binaries() const override { return {executable}; }
  bool has(const Operator&) const override { return true; }
  Reply call(const Operator& op, std::span<HostValue> arguments) override;
  bool may_crash() const override { return false; }

 private:
  Budget::Limits limits_;
};

}  // namespace assay
