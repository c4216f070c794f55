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

// Runs programs: load, method, set_input, execute, output. Nothing here throws: what is refused comes back as a Fault
// with its outcome, rule, place and one sentence.
namespace assay {

// What a program that is delegated has of those around it, besides their budget.
struct Nested {
  int depth = 0;                  // how many there are
  std::shared_ptr<Int> executed;  // instructions of the outermost's execution, with those of all that it delegates
};
inline constexpr int deepest_nesting = 8;

// Who answers a call of an operator: what it says and does is what `call` would.
using CallOperator = std::function<Answer(const Operator& op, std::span<Value> arguments, const Budget& budget)>;

struct RuntimeOptions {
  Budget budget;                  // of all methods of a loaded program and of what they delegate; shared with others
  Int instructions = 10'000'000;  // of one execution, as upstream, with those of what it delegates
  std::byte fill{0};              // what planned memory that is not state begins with; no result depends on it
  bool share_arenas = false;      // methods share the planned memories into which one of them plans state
  Backends backends = own_backends();
  Nested nested = {};      // set by the runtime
  CallOperator call = {};  // of operators that work on values; empty: the reference
};

class Method;

// What happened in one instruction, told to whoever listens.
struct Event {
  std::size_t chain, instruction;
  std::string_view
      name;  // "aten::add.out", or of the other kinds "DelegateCall", "MoveCall", "JumpFalseCall", "FreeCall"
  std::chrono::nanoseconds time;
  std::size_t bytes;  // read and written by it
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void instruction_done(const Method& method, const Event& event) = 0;
};

class LoadedProgram;

// One method, ready to run, with its memory: mutable state lives in it from one execution to the next.
class Method {
 public:
  Method(Method&&) noexcept;
  Method& operator=(Method&&) noexcept;
  ~Method();

  const pte::ExecutionPlan& plan() const;

  // A tensor has the dtype, rank and dim order that the program declares; its sizes are those, or within their bound.
  // A number, bool or string is the one for which the method was exported; where the program has a Null, anything.
  // Faults: R1, R2, R3, R6, R7.
  Refusal set_input(std::size_t i, const Value& value);
  // Memory for an output that the plan gives none; it must outlive its use. Faults: R5, R6, R7.
  Refusal set_output(std::size_t i, std::span<std::byte> memory);

  // Runs to the end. An execution begins with what inputs were set to, with state, and else as the program says. An
  // input that an execution wrote over is set again before the next. Faults: R4, R6, I17, those of operators and
  // backends.
  Refusal execute();
  // Runs one instruction; the first of an execution checks that inputs are set.
  Refusal step();        // what an instruction refuses changes nothing
  bool running() const;  // amid an execution
  Refusal reset();       // gives up an execution amid its steps; state stays. Faults: R6

  Result<Value> output(std::size_t i) const;     // faults: R7, T16
  Result<Value> value(std::size_t index) const;  // any value of the plan

  void listen(Listener* listener);  // null: nobody

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
  // Faults: those of decode and validate, all of them; D6.
  static Result<LoadedProgram> load(File program, std::vector<File> data = {}, RuntimeOptions options = {});
  // With state of its own, whoever else has the program.
  explicit LoadedProgram(ValidProgram program, RuntimeOptions options = {});

  const ValidProgram& program() const;
  Result<const pte::ExecutionPlan*> plan(std::string_view method) const;  // faults: G3, with the names that there are

  // Makes memory, constants, initial state and delegates ready. Faults: G3; I4, which lists all missing operators; D2;
  // T19; limits.memory.
  Result<Method> method(std::string_view name) const;

  struct Shared;  // what methods keep using when this object is gone

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace assay
