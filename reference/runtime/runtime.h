#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reference/budget.h"
#include "reference/call.h"
#include "reference/program/program.h"
#include "reference/runtime/delegate.h"
#include "reference/runtime/storage.h"
#include "reference/xnnpack/form.h"

// Runs programs by the requests load, method, set_input, execute and output. The functions throw nothing: a refused
// request returns a Fault with an outcome, a rule, a place and one sentence. In the comment of a function, "Faults:"
// lists the rules by which the function may refuse a request. spec/format/rules.yaml defines the rules. The rule
// limits.memory is broken if the budget has too little memory left.
namespace assay {

// What a delegated program inherits from the programs that contain it, in addition to their budget.
struct Nested {
  int depth = 0;  // the number of programs that contain this program
  // The number of instructions of the outermost execution, including all delegated programs.
  std::shared_ptr<Int> executed;
};
inline constexpr int deepest_nesting = 8;

// A function that the runtime calls instead of assay::call to compute calls of operators. Requires the same results and
// faults as those of assay::call.
using CallOperator = std::function<Answer(const Operator& op, std::span<Value> arguments, const Budget& budget)>;

struct RuntimeOptions {
  // The budget of all methods of a loaded program and of everything that they delegate. Copies of the options share the
  // budget.
  Budget budget;
  // The largest number of instructions that one execution may run, including those of all delegated programs.
  // ExecuTorch has the same default.
  Int instructions = 10'000'000;
  // The initial value of all bytes of planned memory that are not state. No result depends on it.
  std::byte fill{0};
  // Whether all methods share each planned memory that holds state of any method.
  bool share_arenas = false;
  Backends backends = own_backends();
  xnnpack::Form payload_form = xnnpack::Form::folded;  // the graph that computes payloads of XNNPACK delegates
  Nested nested = {};                                  // only the runtime sets it
  // The function that computes the calls of operators. If it is empty, assay::call computes them. Exception: the
  // runtime itself executes a call of an operator that only changes to which tensor a value refers.
  CallOperator call = {};
};

class Method;

// An executed instruction, as a Listener receives it.
struct Event {
  std::size_t chain, instruction;
  // For a KernelCall, the name of the operator, such as "aten::add.out". For any other instruction, its kind:
  // "DelegateCall", "MoveCall", "JumpFalseCall" or "FreeCall".
  std::string_view name;
  std::chrono::nanoseconds time;
  std::size_t bytes;  // the number of bytes that the instruction read and wrote
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void instruction_done(const Method& method, const Event& event) = 0;
};

class LoadedProgram;

// A prepared method with its memory. State in this memory is kept from one execution to the next.
class Method {
 public:
  Method(Method&&) noexcept;
  Method& operator=(Method&&) noexcept;
  ~Method();

  const pte::ExecutionPlan& plan() const;

  // Sets input i to a copy of the value. A tensor must have the dtype, rank and dim order that the program declares. If
  // the program declares the tensor as static, the sizes must be the declared sizes. If it declares the tensor as
  // bounded, each size must be at most the declared size of that dimension. A number, bool or string must equal the
  // value with which the program was exported; for a float, rule R3 allows a small difference. An input that the
  // program declares as Null accepts None, any number and any string. Faults: R1, R2, R3, R6, R7.
  Refusal set_input(std::size_t i, const Value& value);
  // Supplies the memory of output i. Requires an output to which the plan gives no memory. The memory must stay valid
  // as long as the method uses it. Faults: R5, R6, R7.
  Refusal set_output(std::size_t i, std::span<std::byte> memory);

  // Runs the method to its end. An execution begins with the inputs that were set, with the state, and with the
  // program's initial values for all other values. An input that an execution overwrote must be set again before the
  // next execution. Faults: R4, R6, I17, and the faults of operators and backends.
  Refusal execute();
  // Runs one instruction. The first instruction of an execution also checks that the inputs are set. A refused
  // instruction changes nothing. Faults: the same as those of execute.
  Refusal step();
  bool running() const;  // whether an execution has begun and not ended
  // Abandons an execution between two steps. State keeps what the steps wrote. Faults: R6.
  Refusal reset();

  Result<Value> output(std::size_t i) const;     // output i of the last execution; faults: R7, T16
  Result<Value> value(std::size_t index) const;  // the present value at this index of the plan

  void listen(Listener* listener);  // sets the listener of instructions; null removes it

 private:
  friend class LoadedProgram;
  struct Parts;
  explicit Method(std::unique_ptr<Parts> parts);
  template <class F>
  Refusal change(F f);
  std::unique_ptr<Parts> parts_;
};

// A valid program with its data files.
class LoadedProgram {
 public:
  // Opens and validates a program with its data files. Faults: all rules that spec/format/rules.yaml marks `decode` or
  // `validate`, and D6.
  static Result<LoadedProgram> load(File program, std::vector<File> data = {}, RuntimeOptions options = {});
  // Several LoadedProgram objects may share a ValidProgram. Each object has its own state.
  explicit LoadedProgram(ValidProgram program, RuntimeOptions options = {});

  const ValidProgram& program() const;
  // The plan of a method. Faults: G3, whose message lists the names of the methods.
  Result<const pte::ExecutionPlan*> plan(std::string_view method) const;

  // Prepares a method: its memory, constants, initial state and delegates. Faults: G3; I4, whose message lists all
  // missing operators; D2; T19; limits.memory.
  Result<Method> method(std::string_view name) const;

  struct Shared;  // kept alive by the methods

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace assay
