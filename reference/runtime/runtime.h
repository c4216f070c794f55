#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reference/call.h"
#include "reference/program/unpacked.h"
#include "reference/runtime/delegate.h"
#include "reference/runtime/storage.h"

// Runs programs: load, method, set_input, execute, output. Nothing here throws: what is refused comes back as a Fault
// with its outcome, rule, place and one sentence.
namespace assay {

using Refusal = std::optional<Fault>;  // none: it is done

struct RuntimeOptions {
  Budget budget;                  // of all methods of a loaded program
  Int instructions = 10'000'000;  // of one execution, as upstream
  Backends backends = {{"ProgramBackend", make_program_delegate}};
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

  const pte::ExecutionPlanT& plan() const;

  // A tensor has the dtype, rank and dim order that the program declares; its sizes are those, or within their bound.
  // A number, bool or string is the one for which the method was exported; where the program has a Null, anything.
  // Faults: R1, R2, R3, R6, R7.
  Refusal set_input(std::size_t i, const Value& value);
  // Memory for an output that the plan gives none; it must outlive its use. Faults: R5, R6, R7.
  Refusal set_output(std::size_t i, std::span<std::byte> memory);

  // Runs to the end. Faults: R4, R6, I17, those of operators and backends.
  Refusal execute();
  // Runs one instruction; the first of an execution checks that inputs are set.
  Refusal step();
  bool running() const;  // amid an execution
  void reset();          // gives up an execution amid its steps; state stays

  Result<Value> output(std::size_t i) const;     // faults: R7, T16
  Result<Value> value(std::size_t index) const;  // any value of the plan

  void listen(Listener* listener);  // null: nobody

 private:
  friend class LoadedProgram;
  struct Parts;
  explicit Method(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// A valid program with its data files.
class LoadedProgram {
 public:
  // Faults: those of decode and validate, all of them.
  static Result<LoadedProgram> load(std::span<const std::byte> program,
                                    std::span<const std::span<const std::byte>> data = {}, RuntimeOptions options = {});

  const unpacked::ValidProgram& program() const;

  // Makes memory, constants, initial state and delegates ready. Faults: G3; I4, which lists all missing operators; D2;
  // T19; limits.memory.
  Result<Method> method(std::string_view name) const;

  struct Shared;  // what methods keep using when this object is gone

 private:
  explicit LoadedProgram(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace assay
