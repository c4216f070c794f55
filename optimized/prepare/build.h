#pragma once

#include "format/effects.h"
#include "format/names.h"
#include "optimized/runtime/method.h"

namespace assay::optimized {

// Makes a method: values, their memory, steps. Each part says no when it has refused, and the fault why.
class Builder {
 public:
  Builder(const Program& program, const pte::ExecutionPlan& plan, const Options& options, format::Workspace& workspace,
          const Memories* memories, Fault& fault);
  Method* make(Sizes& sizes);

 private:
  using Indices = const flatbuffers::Vector<std::int32_t>*;

  // values.cpp
  bool make_values();
  bool make_value(std::uint32_t v);
  bool make_tensor(std::uint32_t v, const pte::Tensor& from);
  std::span<Value*> pointers(std::span<const std::int64_t> items);
  std::span<Value*> pointers(std::span<const std::int32_t> items);
  void mark_changes();

  // places.cpp
  bool place_tensors();
  bool place_constant(Tensor& tensor, const pte::Tensor& from, std::uint32_t v);
  void place(Tensor& tensor, const pte::Tensor& from);
  bool is_shared(std::uint32_t memory) const;
  bool begin_state();
  void mark_overwritten_inputs();

  // steps.cpp
  bool make_steps();
  bool make_step(std::uint32_t i);
  bool make_call(std::uint32_t i, const pte::KernelCall& call);
  bool make_delegate_call(std::uint32_t i, const pte::DelegateCall& call);
  void add(std::uint32_t instruction, bool (*run)(const Step&, Run&), const void* state, const Call& call = {});
  std::span<Value*> arguments(Indices args);

  bool has_room();
  format::Place place_of(std::uint32_t v) const { return {&where_, "value", v}; }

  const Program& program_;
  const pte::ExecutionPlan& plan_;
  const Options& options_;
  format::Workspace& workspace_;
  const Memories* memories_;  // null: only sizes are wanted
  Fault& fault_;
  const format::Place where_{nullptr, format::text_of(plan_.name()), -1, true};
  format::Method method_;
  format::NamedData named_;
  format::Workspace tables_, packed_;
  Method* made_ = nullptr;
  std::span<Value> values_;
  std::span<Tensor> tensors_;
  std::span<std::uint8_t> is_state_;         // by value
  std::span<std::uint8_t> shared_memories_;  // by planned memory: the program's methods share it
  std::span<std::uint32_t> step_of_;         // the first step at or behind an instruction
  std::uint32_t steps_ = 0;
  std::uint64_t arena_ = 0, shared_ = 0, scratch_ = 0;
};

}  // namespace assay::optimized
