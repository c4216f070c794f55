#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/testee/library.h"
#include "reference/budget.h"
#include "reference/fault.h"

namespace assay::testee {

// Thrown by load(), call(), kept() and ask() in two cases: (a) the runtime's interface cannot express the request, (b)
// the runtime gives no result for the request.
struct NotAsked : Fault {
  explicit NotAsked(std::string why) : Fault(Outcome::unsupported, "testee", std::move(why)) {}
};

// A tensor or memory that a method keeps from one execution to the next.
struct StateEntry {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t digest = 0;  // the CRC-32 of its content; 0 if it is unknown

  bool operator==(const StateEntry&) const = default;
};

// An executed instruction, with the values of its operands after the instruction: for a call of a delegate, its
// arguments.
struct TracedInstruction {
  std::size_t chain = 0, instruction = 0;
  std::chrono::nanoseconds time{};
  std::vector<Value> values;
};

// A program that a runtime under test has loaded. It keeps state from call to call.
class TesteeProgram {
 public:
  virtual ~TesteeProgram() = default;

  // Runs a method. Input tensors have the dim order that the program declares, unless the runtime takes_dim_orders().
  // May crash.
  virtual Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) = 0;

  // Selects a method and sets its inputs. execute() sets inputs of the selected method, which replace those that are
  // set, and runs the method. Both require Runtime::sets_inputs().
  virtual Reply select(const std::string&, std::span<const Value>) {
    throw NotAsked("a call gives all inputs at once");
  }
  virtual Reply execute(std::span<const Value>, std::vector<Value>&) {
    throw NotAsked("a call gives all inputs at once");
  }

  // The instructions of the last call that the runtime tells of. Requires LoadSettings::traces and Runtime::traces().
  virtual std::vector<TracedInstruction> traced() { return {}; }

  // The state that the method keeps, if the runtime reports it.
  virtual std::vector<StateEntry> kept(const std::string&) { throw NotAsked("the testee does not tell what it keeps"); }
};

struct LoadSettings {
  std::filesystem::path program;
  std::vector<std::filesystem::path> data;
  bool share_arenas = false;                // methods share the arenas in which at least one of them keeps state
  bool traces = false;                      // each call notes what traced() returns
  std::filesystem::path packed_cache = {};  // a folder for packed constants, if the runtime packs any
  // Limits of the program, if the runtime enforces them.
  std::int64_t instructions = 0;  // the most instructions of one execution; 0 means the default of the runtime
  std::optional<Budget> budget = {};
};

// A runtime under test.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual std::string_view name() const = 0;

  // Versions and settings that a report shows.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }

  // The names of the binaries that compute; `executable` is this process's own binary.
  virtual std::vector<std::string> binaries() const { return {}; }

  // Whether another process or machine computes. Then this process cannot measure the processor time.
  virtual bool is_remote() const { return false; }

  // The number of processes that may use it at the same time, and whether one process may load several programs.
  virtual int most_at_once() const { return std::numeric_limits<int>::max(); }
  virtual bool has_instances() const { return true; }

  virtual bool shows_state() const { return false; }

  // Whether inputs are set one by one, so that an input can be set again before the method runs.
  virtual bool sets_inputs() const { return false; }

  // Whether programs tell of the instructions that they execute, at least of the calls of delegates.
  virtual bool traces() const { return false; }

  // Whether an execution charges its memory to budgets, in the calling thread.
  virtual bool charges_memory() const { return false; }

  // Announces the case that all following actions belong to.
  virtual void begin(std::string_view) {}

  // The names of the requests that the runtime answers beside calls. ask() makes such a request with a call that the
  // program answers. May crash.
  virtual std::vector<std::string> requests() const { return {}; }
  virtual Reply ask(std::string_view request, const LoadSettings&, const std::string&, std::span<const Value>) {
    throw NotAsked(concat("the testee does not know ", request));
  }

  // The names of further requests that ask() makes, each with a call of a program that only calls one delegate.
  virtual std::vector<std::string> delegate_requests() const { return {}; }

  // Null if the runtime refuses the program; then `reply` has the reason. May crash.
  virtual std::unique_ptr<TesteeProgram> load(const LoadSettings& settings, Reply& reply) = 0;

  // Whether a call may have an input in another dim order than the program declares. The runtime must then convert the
  // input or refuse the call.
  virtual bool takes_dim_orders() const { return true; }
};

// The function that a module exports as assay_runtime. It makes the runtime, which the caller owns.
using MakeRuntime = Runtime* (*)();

}  // namespace assay::testee
