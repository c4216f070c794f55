#pragma once

#include "format/flow_effects.h"
#include "format/names.h"
#include "optimized/rewrite/draft.h"
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
  bool place_constants();
  bool place_constant(Tensor& tensor, const pte::Tensor& from, std::uint32_t v);
  bool mark_state();
  bool place_tensors();
  void place_memories(std::span<std::uint64_t> begins);
  bool begin_state();
  void mark_inputs();

  // arena.cpp
  bool place_by_lifetime();

  // calls.cpp
  bool make_calls();
  bool make_call(std::uint32_t i, const pte::KernelCall& call);
  void rewrite();
  std::span<Value*> arguments(Indices args) { return pointers(format::items(args)); }

  // steps.cpp
  bool make_steps();
  bool make_step(std::uint32_t i);

  // delegates.cpp
  bool begin_delegates();
  bool begin_delegate(Delegate& delegate, const pte::BackendDelegate& tables, const format::Place& place);

  std::uint32_t index_of(const Value& v) const { return static_cast<std::uint32_t>(&v - values_.data()); }
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
  format::Workspace tables_, copies_;
  Packed packed_;
  Method* made_ = nullptr;
  std::span<Value> values_;
  std::span<Tensor> tensors_;
  std::span<std::uint8_t> is_state_;         // by value
  std::span<std::uint8_t> shared_memories_;  // by planned memory: the program's methods share it
  std::span<Planned> calls_;                 // by instruction
  std::optional<Flow> flow_;                 // of a method whose instructions run in order; else none
  std::uint32_t steps_ = 0;
  std::uint64_t arena_ = 0, shared_ = 0, scratch_ = 0;
};

}  // namespace assay::optimized
