#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "format/operator_roles.h"
#include "reference/runtime/call_rules.h"
#include "reference/runtime/runtime.h"
#include "reference/runtime/storage.h"

// Interprets a method: it holds the values of the plan and executes the instructions on them. All functions may throw
// Fault.
namespace assay {

using Args = std::span<const std::int32_t>;
inline std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

// A value of the plan. A list is a pointer to its table, which holds indices of other values, or numbers. The content
// of a value may change, but its kind does not. The kinds are tensor, list, string, and number; None is of the kind
// number.
using Held = std::shared_ptr<HeldTensor>;  // a MoveCall copies the pointer
using Slot = std::variant<std::monostate, Int, double, bool, std::string, Held, const pte::EValue*>;

Value value_of(const Slot& slot);          // returns None for a list
std::optional<Slot> slot_of(Value value);  // returns nothing for a tensor or list
bool same_kind(const Slot& a, const Slot& b);

using PlaceInPlan = std::pair<std::uint32_t, std::uint64_t>;  // the index of a planned memory, and an offset in bytes
using PlacesInPlan = std::set<PlaceInPlan, std::less<>, Charged<PlaceInPlan>>;

// The number of used bytes of each planned memory. A plan may make its memories larger.
using MemorySizes = Buffer<std::uint64_t>;

struct LoadedProgram::Shared {
  Shared(ValidProgram program, RuntimeOptions options);

  const ValidProgram program;
  const RuntimeOptions options;
  // Planned memory that all methods share, by its index in the plans. In this memory, a method reads what another
  // method wrote.
  std::map<std::uint32_t, std::shared_ptr<Memory>> state;
  MemorySizes shared_sizes;
  PlacesInPlan begun;  // the state in that memory that already has its initial value
  std::mutex making;   // guards `state` and `begun` while a method is prepared
};

inline Place place_of(const pte::ExecutionPlan& plan) { return {nullptr, format::text_of(plan.name()), -1, true}; }

class Interpreter {
 public:
  Interpreter(std::shared_ptr<LoadedProgram::Shared> shared, const pte::ExecutionPlan& plan);

  const pte::ExecutionPlan& plan() const { return plan_; }
  std::size_t size() const { return slots_.size(); }

  Value value(std::size_t index) const;
  // initial() is the value at the beginning of an execution. give() sets this initial value to a value that the caller
  // supplies. Requires that both have the same kind.
  const Slot& initial(std::size_t index) const { return initial_[index]; }
  void give(std::size_t index, const Value& value);
  bool is_null(std::size_t index) const;   // whether the program declares it as None
  bool is_given(std::size_t index) const;  // whether give() set it and no instruction has overwritten it since
  // Supplies the memory of a tensor to which the plan gives no memory. Faults: R5.
  void give_memory(std::size_t index, std::span<std::byte> memory, const Place& place);
  const Budget& budget() const { return shared_->options.budget; }

  // Executes one instruction and reports it to the listener of `method`, if there is one.
  void step(const Method& method, Listener* listener);
  bool at_end() const { return chain_ == format::size_of(plan_.chains()); }
  bool at_start() const { return steps_ == 0; }
  void restart();
  void give_up() noexcept { steps_ = 0; }  // ends the execution; the next step requires a call of restart() before it

 private:
  using Indices = Buffer<std::size_t>;
  using Operands = std::vector<std::size_t>;
  // The operator of an instruction, which is looked up when the method is loaded.
  struct Kernel {
    std::string name;
    const Operator* op = nullptr;  // null for an operator that changes to which tensor a value refers
    const format::OperatorRoles* roles = nullptr;
    void (Interpreter::*handle)(Args args) = nullptr;
  };
  struct Result {
    Value value;
    std::size_t to;
  };

  // load.cpp
  void make_slots();
  void make_kernels();
  void make_delegates();
  Slot make_slot(const pte::EValue& value, bool is_state, const Place& place);
  Held make_tensor(const pte::Tensor& tensor, bool is_state, const Place& place);
  Storage storage_of(const pte::Tensor& tensor, std::size_t bytes, const Place& place);
  std::shared_ptr<Memory> planned(std::uint32_t id);
  void begin_state(const pte::Tensor& tensor, HeldTensor& held, const Place& place);
  std::span<const std::byte> external(const pte::Tensor& tensor, std::size_t bytes, const Place& place) const;
  static Kernel find_kernel(const pte::Operator& op);

  // interpreter.cpp
  const Held* tensor(std::size_t index) const { return std::get_if<Held>(&slots_[index]); }
  HeldTensor& held(std::size_t index) const;
  Indices elements(std::size_t index) const;
  Ints integers(std::size_t list) const;
  Tensors tensors(std::size_t list, bool optional) const;
  bool is_true(std::size_t index) const;
  std::string_view run(const pte::Instruction& instruction);
  const auto& instructions() const { return *plan_.chains()->Get(static_cast<std::uint32_t>(chain_))->instructions(); }
  void charge_instruction();
  void skip_ended_chains();

  // call.cpp
  void call(const Kernel& kernel, Args args);
  void call_delegate(const pte::DelegateCall& call);
  Value argument(const Kernel& kernel, std::size_t i, std::size_t index) const;
  void add_results(Value value, std::size_t to, Buffer<Result>& results) const;
  void prepare(Result& result, std::size_t results, RuleId rule) const;
  void store(Buffer<Result> results, RuleId rule);

  // handles.cpp
  void view(Args args);
  void copy_index(Args args);

  std::shared_ptr<LoadedProgram::Shared> shared_;
  const pte::ExecutionPlan& plan_;
  MemorySizes memory_sizes_;
  std::map<std::uint32_t, std::shared_ptr<Memory>> planned_;
  Buffer<std::shared_ptr<Memory>> memories_;  // the memories that only this method uses
  PlacesInPlan begun_;                        // the state in these memories that already has its initial value
  Buffer<Slot> slots_, initial_;
  Buffer<Kernel> kernels_;
  Buffer<std::unique_ptr<Delegate>> delegates_;
  std::size_t chain_ = 0, next_ = 0;
  Int steps_ = 0;  // the number of instructions of this execution
  // The number of instructions of the outermost execution, including all delegated programs.
  std::shared_ptr<Int> executed_;
  std::size_t moved_ = 0;  // the number of bytes that the current instruction read and wrote
};

}  // namespace assay
