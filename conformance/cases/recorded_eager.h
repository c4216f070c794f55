#pragma once

#include <map>
#include <string>

#include "conformance/cases/case.h"
#include "conformance/testee/library.h"

namespace assay::cases {

// Eager PyTorch as recorded: a library that answers the recorded calls and no other call.
class RecordedEager : public testee::KernelLibrary {
 public:
  explicit RecordedEager(const Corpus& corpus) : corpus_(corpus) {}  // `corpus` must outlive it

  std::string_view name() const override { return "recorded"; }
  bool has(const Operator& op) const override { return corpus_.calls(op.name) != nullptr; }
  testee::Reply call(const Operator& op, std::span<testee::HostValue> arguments) override;
  bool recorded_only() const override { return true; }
  bool may_crash() const override { return false; }

 private:
  const Corpus& corpus_;
  std::string indexed_;                          // the operator whose calls are indexed
  std::map<std::string, std::size_t> recorded_;  // call number by its arguments' text
};

}  // namespace assay::cases
