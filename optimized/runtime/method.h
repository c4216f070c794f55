#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "optimized/runtime/backend.h"
#include "optimized/runtime/kernel.h"
#include "optimized/runtime/program.h"

struct assay_method;  // the type of a Method in the C interface

namespace assay::optimized {

constexpr std::uint64_t alignment = 64;  // the alignment of the memories of a method, in bytes
constexpr std::uint64_t aligned(std::uint64_t n) { return (n + alignment - 1) / alignment * alignment; }

struct Rewrite;

// The numbers of bytes of memory that a method needs.
struct Sizes {
  std::uint64_t prepared;  // for values, steps and packed constants; must be valid as long as the method
  std::uint64_t arena;     // planned memory; must be valid as long as the method, also between executions
  // For state that the program's methods share. The client must set it to zero before it makes the first method.
  std::uint64_t shared;
  std::uint64_t scratch;  // used only during an execution
  std::uint64_t tables;   // part of `prepared`: all but copies of constants and packed constants
  std::uint64_t copies;   // part of `prepared`: copies of constants whose address in the file does not suit their dtype
  // A digest of the steps with their kernels, and of the layout of the packed constants.
  std::uint64_t decisions;

  bool operator==(const Sizes&) const = default;
};
struct Memories {
  std::span<std::byte> prepared, arena, shared, scratch;

  bool hold(const Sizes& sizes) const {
    return prepared.size() >= sizes.prepared && arena.size() >= sizes.arena && shared.size() >= sizes.shared &&
           scratch.size() >= sizes.scratch;
  }
};

struct Options {
  const Kernel* refusals = nullptr;        // words the refusals of calls
  std::span<const Backend> backends;       // execute the delegates
  std::int64_t instructions = 10'000'000;  // the most instructions of one execution
  kernels::Threads threads;
  std::optional<kernels::InstructionSet> set = kernels::best_instruction_set();
  bool relaxed = false;       // allows kernels of relaxed arithmetic
  bool as_written = false;    // no rewrites: one step for each instruction
  bool share_arenas = false;  // all methods share each planned memory that holds state of one of them
  std::uint32_t depth = 0;    // the number of programs around the program: delegates may be programs
  // Packed constants from a file. If empty, the constants are packed into prepared memory.
  std::optional<KeptConstants> packed = {};
};

struct Input {
  std::byte* own;  // memory for its elements
  std::uint32_t value;
  bool is_open;         // whether it is declared as None; then it accepts None, any number and any string
  bool is_overwritten;  // whether an execution overwrites it, so that it must be set again
  bool is_alone;        // whether no other value has its bytes and no instruction writes them
  bool given;           // whether it was set
};

struct Output {
  std::uint32_t value;
  bool takes_memory;  // whether the client supplies its memory, because the plan gives it none
};

struct Delegate {
  const Backend* backend;
  void* instance;  // the backend's handle; null if there is none or it was ended
};

bool run_delegate(const Step& step, Execution& execution);  // the state of the step is the Delegate

// A method that is ready to run. The object is in the prepared memory and needs no destructor.
class Method {
 public:
  std::span<const Step> steps() const { return steps_; }
  // For each instruction, counted through all chains, the step that executes it, or no_step if no step does.
  static constexpr std::uint32_t no_step = ~std::uint32_t{0};
  std::span<const std::uint32_t> step_of() const { return step_of_; }
  // The calls that were computed once, while the method was made.
  std::span<const Step> folded() const { return folded_; }
  std::span<const Delegate> delegates() const { return delegates_; }
  std::span<const Rewrite* const> rewrites() const { return rewrites_; }  // the rewrites that changed its calls
  std::size_t inputs() const { return inputs_.size(); }
  std::size_t outputs() const { return outputs_.size(); }
  // The current values of input and output i, which a client reads between executions. A tensor without memory has no
  // data.
  const Value& input(std::size_t i) const { return values_[inputs_[i].value]; }
  const Value& output(std::size_t i) const { return values_[outputs_[i].value]; }
  const Value& value(std::size_t i) const { return values_[i]; }
  std::span<const Value> values() const { return values_; }
  const KeptConstants& packed() const { return packed_; }

  // Sets input i to a copy of the value. Requires the kind, dtype, dim order and sizes that the program declares.
  // With `alias`, a tensor's elements are not copied, but used in place until the input is set again; the client must
  // not change them during an execution. Faults: R1, R2, R3, R6, R7; with `alias` also R5.
  bool set_input(std::size_t i, const Value& value, bool alias, Fault& fault);
  // Supplies the memory of an output to which the plan gives none. Faults: R5, R6, R7.
  bool set_output(std::size_t i, std::span<std::byte> memory, Fault& fault);

  // Executes the method with the results and the faults of the reference (spec/format/rules.yaml). A refused
  // instruction changes nothing.
  bool execute(Fault& fault);
  // The same, within a limit of instructions, which loses those that were executed.
  bool execute(std::int64_t& left, Fault& fault);
  bool step(Fault& fault);
  bool running() const { return running_; }
  bool has_outputs() const { return has_outputs_; }  // the last execution ended and was not refused
  std::uint32_t next_step() const { return execution_.next; }
  // A function that is called after each step. It must not change the method. If it returns false, the execution ends.
  using Listener = bool (*)(void* context, const assay_method* method, std::size_t step);
  void listen(Listener listener, void* context) { listener_ = listener, listening_ = context; }
  void end();    // ends the delegates; must be called before the memory is freed
  void reset();  // abandons an execution between two steps; keeps the state

 private:
  friend class Builder;
  format::Place own_place() const { return {nullptr, name_, -1, true}; }
  bool may_set(const format::Place& place, std::size_t n, Fault& fault) const;
  bool begin(std::int64_t instructions, Fault& fault);
  void end_execution();
  bool run_one(Fault& fault);
  bool set_tensor(Input& input, const Value& value, bool alias, const format::Place& place, Fault& fault);
  bool set_value(Input& input, const Value& value, const format::Place& place, Fault& fault);
  bool fail(const Step& step, bool has_kinds, Fault& fault);
  void word_refusal(const Step& step);
  bool tell(std::uint32_t step, Fault& fault);

  std::string_view name_;
  const Kernel* refusals_ = nullptr;
  std::span<Value> values_, initial_;
  std::span<Tensor> tensors_;
  std::span<Step> steps_, folded_;
  std::span<Delegate> delegates_;
  std::span<std::uint32_t> step_of_;
  std::span<const Rewrite* const> rewrites_;
  KeptConstants packed_;
  std::span<Input> inputs_;
  std::span<Output> outputs_;
  Execution execution_;
  std::int64_t instructions_ = 0;
  Listener listener_ = nullptr;
  void* listening_ = nullptr;
  bool running_ = false;
  bool has_outputs_ = false;
  bool busy_ = false;      // whether a step runs; a callback must not start another step
  bool restores_ = false;  // whether an execution begins by restoring the initial values
};

}  // namespace assay::optimized
