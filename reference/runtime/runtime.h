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

// Runs programs: load, method, set_input, execute, output. Nothing here throws: a refused request returns a Fault with
// its outcome, rule, place and one sentence.
namespace assay {

// What a delegated program inherits from the programs around it, besides their budget.
struct Nested {
  int depth = 0;                  // the number of programs around it
  std::shared_ptr<Int> executed;  // instructions of the outermost execution, with everything that it delegates
};
inline constexpr int deepest_nesting = 8;

// Answers a call of an operator in place of `call`, with the same results and faults.
using CallOperator = std::function<Answer(const Operator& op, std::span<Value> arguments, const Budget& budget)>;

struct RuntimeOptions {
  Budget budget;                  // of all methods of a loaded program and of everything they delegate; copies share it
  Int instructions = 10'000'000;  // of one execution, with everything that it delegates; as upstream
  std::byte fill{0};              // the initial bytes of planned memory that is not state; no result depends on them
  bool share_arenas = false;      // methods share the planned memories into which one of them plans state
  Backends backends = own_backends();
  Nested nested = {};      // set by the runtime
  CallOperator call = {};  // for operators that work on values; empty: the reference
};

class Method;

// One executed instruction, for a Listener.
struct Event {
  std::size_t chain, instruction;
  std::string_view
      name;  // "aten::add.out", or of the other kinds "DelegateCall", "MoveCall", "JumpFalseCall", "FreeCall"
  std::chrono::nanoseconds time;
  std::size_t bytes;  // that it read and wrote
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void instruction_done(const Method& method, const Event& event) = 0;
};

class LoadedProgram;

// A prepared method with its memory, in which mutable state lasts from one execution to the next.
class Method {
 public:
  Method(Method&&) noexcept;
  Method& operator=(Method&&) noexcept;
  ~Method();

  const pte::ExecutionPlan& plan() const;

  // A tensor has the dtype, rank and dim order that the program declares, and the declared sizes or sizes within their
  // bound. A number, bool or string must equal the exported value. If the program has a Null there, any value is
  // accepted. Faults: R1, R2, R3, R6, R7.
  Refusal set_input(std::size_t i, const Value& value);
  // Supplies memory for an output to which the plan gives none; the memory must outlive its use. Faults: R5, R6, R7.
  Refusal set_output(std::size_t i, std::span<std::byte> memory);

  // Runs to the end. An execution begins with the inputs that were set, with state, and with the program's other
  // values. An input that an execution overwrote must be set again before the next. Faults: R4, R6, I17, those of
  // operators and backends.
  Refusal execute();
  // Runs one instruction. The first one of an execution checks that inputs are set.
  Refusal step();        // an instruction that is refused changes nothing
  bool running() const;  // between the first and the last instruction
  Refusal reset();       // abandons an execution between its steps; state stays. Faults: R6

  Result<Value> output(std::size_t i) const;     // faults: R7, T16
  Result<Value> value(std::size_t index) const;  // any value of the plan

  void listen(Listener* listener);  // null: none

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
  // Faults: all those of the rules marked decode and validate; D6.
  static Result<LoadedProgram> load(File program, std::vector<File> data = {}, RuntimeOptions options = {});
  // The program may be shared; the state of this object is its own.
  explicit LoadedProgram(ValidProgram program, RuntimeOptions options = {});

  const ValidProgram& program() const;
  Result<const pte::ExecutionPlan*> plan(std::string_view method) const;  // faults: G3, with the names of the methods

  // Prepares memory, constants, initial state and delegates. Faults: G3; I4, which lists all missing operators; D2;
  // T19; limits.memory.
  Result<Method> method(std::string_view name) const;

  struct Shared;  // methods use it after this object is destroyed

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace assay
