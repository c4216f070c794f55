#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "reference/runtime/runtime.h"
#include "reference/runtime/storage.h"

// A method as it runs: the values of its plan, and what each instruction does to them. Everything here throws Fault.
namespace assay {

// A value of the plan. Lists stay what the tables say: indices of other values, or numbers.
using Held = std::shared_ptr<HeldTensor>;  // shared, since a MoveCall copies the handle
using Slot = std::variant<std::monostate, Int, double, bool, std::string, Held, const pte::KernelTypesUnion*>;

struct LoadedProgram::Shared {
  Shared(unpacked::ValidProgram program, std::vector<DataFile> data, RuntimeOptions options);

  unpacked::ValidProgram program;
  std::vector<DataFile> data;
  RuntimeOptions options;
  // Planned memory that holds nothing but named state belongs to all methods: what one leaves there the others find.
  std::map<std::uint32_t, Block> state;
  std::map<std::string, bool, std::less<>> initialised;  // named state that has its initial value

  // Of the program's own named data or a data file.
  std::optional<std::span<const std::byte>> named(std::string_view key) const;
};

class Machine {
 public:
  Machine(std::shared_ptr<LoadedProgram::Shared> shared, const pte::ExecutionPlanT& plan);

  const pte::ExecutionPlanT& plan() const { return plan_; }
  std::size_t size() const { return slots_.size(); }

  Value value(std::size_t index) const;
  const Slot& slot(std::size_t index) const { return slots_[index]; }
  Slot& slot(std::size_t index) { return slots_[index]; }
  const Held* tensor(std::size_t index) const { return std::get_if<Held>(&slots_[index]); }

  // One instruction; what it was is told to the listener of `method`, if there is one.
  void step(const Method& method, Listener* listener);
  bool at_end() const { return chain_ == plan_.chains.size(); }
  bool at_start() const { return executed_ == 0; }
  void restart() {
    chain_ = next_ = 0, executed_ = 0;
    skip_ended_chains();
  }

 private:
  // An instruction's operator, looked up when the method is loaded.
  struct Kernel {
    std::string name;
    const Operator* op;  // null: one of those that work on handles
    void (Machine::*handle)(const std::vector<std::int32_t>& args);
  };

  void make_slots();
  void make_kernels();
  void make_delegates();
  Slot make_tensor(const pte::TensorT& tensor, std::size_t index);
  Storage storage_of(const pte::TensorT& tensor, std::size_t bytes, const Place& place);
  Block arena(std::uint32_t id);
  void initialise(const pte::TensorT& tensor, Storage& storage, std::size_t bytes, const Place& place);
  std::span<const std::byte> external(const pte::TensorT& tensor, std::size_t bytes, const Place& place) const;

  std::string_view run(const pte::InstructionT& instruction);
  void call(const Kernel& kernel, const std::vector<std::int32_t>& args);
  Value argument(const SchemaArgument& schema, std::size_t index) const;
  void store(Value result, std::size_t index);
  void call_delegate(const pte::DelegateCallT& call);
  bool is_true(std::size_t index) const;
  void view(const std::vector<std::int32_t>& args);
  void copy_index(const std::vector<std::int32_t>& args);
  std::vector<std::size_t> elements(const pte::KernelTypesUnion& list) const;
  HeldTensor& held(std::size_t index) const;
  void skip_ended_chains();

  static Kernel find_kernel(const pte::OperatorT& op);

  std::shared_ptr<LoadedProgram::Shared> shared_;
  const pte::ExecutionPlanT& plan_;
  std::map<std::uint32_t, Block> arenas_;
  std::vector<Slot> slots_;
  std::vector<Kernel> kernels_;
  std::vector<std::unique_ptr<Delegate>> delegates_;
  std::size_t chain_ = 0, next_ = 0;
  Int executed_ = 0;
  std::size_t moved_ = 0;  // bytes that the current instruction read and wrote
};

}  // namespace assay
