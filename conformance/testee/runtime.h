#pragma once

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

namespace assay {

// What load() and call() throw where the runtime's interface has no words for what is wanted of it.
struct NotAsked : Fault {
  explicit NotAsked(std::string why) : Fault(Outcome::unsupported, "testee", std::move(why)) {}
};

// A tensor or memory that a method keeps from one execution to the next.
struct StateEntry {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t digest = 0;  // the CRC-32 of what it holds; 0: not told

  bool operator==(const StateEntry&) const = default;
};

// A program that a runtime under test has loaded; state lives in it from call to call.
class TesteeProgram {
 public:
  virtual ~TesteeProgram() = default;

  // Runs a method. A tensor among the inputs has the dim order that the program declares. May crash.
  virtual Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) = 0;

  // What the method keeps, of a runtime that tells.
  virtual std::vector<StateEntry> kept(const std::string&) { throw NotAsked("the testee does not tell what it keeps"); }
};

struct LoadSettings {
  std::filesystem::path program;
  std::vector<std::filesystem::path> data;
  bool share_arenas = false;                // methods share the planned memories into which one of them plans state
  std::filesystem::path packed_cache = {};  // a folder that keeps packed constants, of a runtime that packs any
  // What the program may take, of a runtime that counts it.
  std::int64_t instructions = 0;  // of one execution; 0: what the runtime thinks
  std::optional<Budget> budget = {};
};

// A runtime under test.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual std::string_view name() const = 0;

  // Versions and settings worth a line in a report.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }

  // The names of the binaries that compute; `executable` for the process's own.
  virtual std::vector<std::string> binaries() const { return {}; }

  // Whether another process or machine computes, of which nobody here sees the processor time.
  virtual bool is_remote() const { return false; }

  // How many processes may use it at the same time, and whether one may load several programs.
  virtual int most_at_once() const { return std::numeric_limits<int>::max(); }
  virtual bool has_instances() const { return true; }

  virtual bool tells_what_is_kept() const { return false; }
  virtual bool charges_memory() const { return false; }  // that an execution takes, to budgets, in the calling thread

  // Before what is done with it is of this case.
  virtual void begin(std::string_view) {}

  // What can be asked of it beside calls, by name; and asks it, of a program with a call that it answers. May crash.
  virtual std::vector<std::string> requests() const { return {}; }
  virtual Reply ask(std::string_view request, const LoadSettings&, const std::string&, std::span<const Value>) {
    throw NotAsked(text("the testee does not know ", request));
  }

  // Null where the program is refused, `reply` says why. May crash.
  virtual std::unique_ptr<TesteeProgram> load(const LoadSettings& settings, Reply& reply) = 0;
};

// What a module exports as assay_runtime: makes the runtime, which the caller owns.
using MakeRuntime = Runtime* (*)();

}  // namespace assay
