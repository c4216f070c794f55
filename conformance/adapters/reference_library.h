#pragma once

#include "conformance/testee/binaries.h"
#include "conformance/testee/library.h"
#include "reference/call.h"

namespace assay::adapters {

// The reference behind the interface of a library under test. Its verdict on itself must always be pass.
class ReferenceLibrary : public testee::KernelLibrary {
 public:
  explicit ReferenceLibrary(const Budget::Limits& limits = {}) : limits_(limits) {}

  std::string_view name() const override { return "reference"; }
  std::vector<std::string> binaries() const override { return {testee::executable}; }
  bool has(const Operator&) const override { return true; }
  testee::Reply call(const Operator& op, std::span<testee::HostValue> arguments) override;
  bool may_crash() const override { return false; }

 private:
  Budget::Limits limits_;
};

}  // namespace assay::adapters
