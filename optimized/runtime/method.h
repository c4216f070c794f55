#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "optimized/runtime/kernel.h"
#include "optimized/runtime/program.h"

struct assay_method;  // what clients call a Method

namespace assay::optimized {

constexpr std::uint64_t alignment = 64;  // of memories
constexpr std::uint64_t aligned(std::uint64_t n) { return (n + alignment - 1) / alignment * alignment; }

struct Rewrite;

// Bytes of what a method is made in and of.
struct Sizes {
  std::uint64_t prepared = 0;  // values, steps and packed constants: stays as long as the method
  std::uint64_t arena = 0;     // planned memory: stays from one execution to the next
  std::uint64_t shared = 0;    // state that the program's methods share; zeros before the first of them is made
  std::uint64_t scratch = 0;   // of one execution
  std::uint64_t tables = 0;    // how many of the prepared bytes are neither copies of constants nor packed ones,
  std::uint64_t copies = 0;    // and how many are copies, of constants that begin where none of their dtype can
};
struct Memories {
  std::span<std::byte> prepared, arena, shared, scratch;
};

struct Options {
  const Kernel* fallback = nullptr;        // does the calls for which there is no kernel
  std::span<const Backend> backends;       // do what is delegated
  std::int64_t instructions = 10'000'000;  // of one execution
  kernels::Threads threads;
  std::optional<kernels::InstructionSet> set = kernels::best_instruction_set();
  bool relaxed = false;                      // kernels of relaxed arithmetic may be chosen
  bool as_written = false;                   // without rewrites
  bool share_arenas = false;                 // methods share the memories into which one of them plans state
  std::optional<KeptConstants> packed = {};  // of an earlier time; none: they are made in prepared memory
};

struct Input {
  std::byte* own;  // memory for its elements
  bool given;      // it was set
  bool is_alone;   // no other value has its bytes, and nothing is written to them
};

struct Delegate {
  const Backend* backend;
  void* begun;  // null: it is not, or was ended
};

// One method, ready to run. It lies in its prepared memory; nothing is to be given back.
class Method {
 public:
  // Makes it in these memories, or only says how large they are: then it returns null, too. Takes memory from the
  // workspace, which it gives back. A fault says what is missing. The program outlives the method.
  static Method* make(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
                      format::Workspace& workspace, const Memories* memories, Sizes& sizes, Fault& fault);
  // A workspace of this size is enough.
  static std::uint64_t workspace_size(const Program& program, const pte::ExecutionPlan& plan);

  const pte::ExecutionPlan& plan() const { return *plan_; }
  std::span<const Step> steps() const { return steps_; }
  // By instruction, through all chains, the step that does it, or no_step where none has to.
  static constexpr std::uint32_t no_step = ~std::uint32_t{0};
  std::span<const std::uint32_t> step_of() const { return step_of_; }
  std::span<const Rewrite* const> rewrites() const { return rewrites_; }  // that changed its calls
  std::size_t inputs() const { return format::size_of(plan_->inputs()); }
  std::size_t outputs() const { return format::size_of(plan_->outputs()); }
  // What input and output i are now; between executions they may be read. A tensor without memory has no data.
  const Value& input(std::size_t i) const { return values_[index_of(plan_->inputs(), i)]; }
  const Value& output(std::size_t i) const { return values_[index_of(plan_->outputs(), i)]; }
  const Value& value(std::size_t i) const { return values_[i]; }
  std::span<const Value> values() const { return values_; }
  const KeptConstants& packed() const { return packed_; }

  // Copies a value of the kind, dtype, dim order and sizes that the program declares. Faults: R1, R2, R3, R6, R7.
  bool set_input(std::size_t i, const Value& value, Fault& fault) { return set_input(i, value, false, fault); }
  // Likewise, but a tensor's elements are used where they lie, until the input is set again; amid an execution they do
  // not change. Faults: those, and R5.
  bool alias_input(std::size_t i, const Value& value, Fault& fault) { return set_input(i, value, true, fault); }
  // Memory for an output that the plan gives none. Faults: R5, R6, R7.
  bool set_output(std::size_t i, std::span<std::byte> memory, Fault& fault);

  // As the reference: spec/format/rules.yaml. What an instruction refuses changes nothing.
  bool execute(Fault& fault);
  bool step(Fault& fault);
  bool running() const { return running_; }
  std::uint32_t next_step() const { return run_.next; }
  // Told of each step that was done, amid which it changes nothing of the method; false ends the execution.
  using Listener = bool (*)(void* context, const assay_method* method, std::size_t step);
  void listen(Listener listener, void* context) { listener_ = listener, listening_ = context; }
  void end();    // of the delegates, before the memory is given up
  void reset();  // gives up an execution amid its steps; state stays

 private:
  friend class Builder;
  static std::uint32_t index_of(const flatbuffers::Vector<std::int32_t>* list, std::size_t i) {
    return static_cast<std::uint32_t>(list->Get(static_cast<std::uint32_t>(i)));
  }
  format::Place own_place() const { return {nullptr, format::text_of(plan_->name()), -1, true}; }
  bool set_input(std::size_t i, const Value& value, bool alias, Fault& fault);
  bool begin(Fault& fault);
  bool run_one(Fault& fault);
  bool run_fallback(const Step& step);
  bool tell(std::uint32_t step, Fault& fault);

  const pte::ExecutionPlan* plan_ = nullptr;
  const Kernel* fallback_ = nullptr;
  std::span<Value> values_, initial_;
  std::span<Tensor> tensors_;
  std::span<Step> steps_;
  std::span<Delegate> delegates_;  // of the plan
  std::span<std::uint32_t> step_of_;
  std::span<const Rewrite* const> rewrites_;
  KeptConstants packed_;
  std::span<Input> inputs_;
  std::span<std::uint32_t> overwritten_;  // and those that an execution writes over
  Run run_;
  std::int64_t instructions_ = 0;
  Listener listener_ = nullptr;
  void* listening_ = nullptr;
  bool running_ = false;
  bool busy_ = false;      // in a step: whom that calls may not do another
  bool restores_ = false;  // values have to be what they were when an execution begins
};

}  // namespace assay::optimized
