#pragma once

#include "format/flow_effects.h"
#include "format/names.h"
#include "optimized/draft/source.h"
#include "optimized/runtime/backend.h"
#include "optimized/runtime/method.h"

namespace assay::optimized {

// Reads an execution plan of a .pte file as a Source. A function that returns false has refused the plan and set the
// fault.
class PlanReader {
 public:
  // Values and operands will be in `tables`, and all other objects in the workspace.
  PlanReader(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
             format::Workspace& workspace, format::Workspace& tables, Fault& fault);

  // `shared` is the memory that methods share; it is empty in the pass that only counts.
  bool read(std::span<const std::byte> shared);
  const Source& source() const { return source_; }  // after it was read
  DelegateSource delegate(std::uint32_t i) const;

 private:
  bool read_all(std::span<const std::byte> shared);  // false without a fault means too little memory
  bool has_room() const { return workspace_.has_room() && tables_.has_room(); }

  // values.cpp
  void read_value(std::uint32_t v);
  void read_tensor(std::uint32_t v, const pte::Tensor& from);
  template <class Index>
  std::span<Value*> pointers(std::span<const Index> items);

  // storage.cpp
  void read_memories();
  void read_shared_memories();
  void read_storage(std::uint32_t v, const pte::Tensor& from);
  void read_content(Storage& to, const pte::Tensor& from) const;
  bool read_state(std::span<const std::byte> shared);
  bool is_kept(std::uint32_t v, const pte::Tensor& from, std::span<const std::uint8_t> is_live) const;

  // instructions.cpp
  bool read_instruction(std::uint32_t i);
  bool read_call(Instruction& to, const pte::KernelCall& call);
  void read_delegate_call(Instruction& to, const pte::DelegateCall& call);

  const Program& program_;
  const pte::ExecutionPlan& plan_;
  const Options& options_;
  format::Workspace &workspace_, &tables_;
  Fault& fault_;
  format::Method method_;
  format::NamedData named_;
  Source source_;
  std::span<std::uint8_t> shared_memories_;
};

}  // namespace assay::optimized
