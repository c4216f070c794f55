#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/testee/binaries.h"
#include "conformance/testee/library.h"

namespace assay::testee {

struct EngineSettings {
  std::filesystem::path program;
  std::vector<std::filesystem::path> data;
  std::string method = "forward";
  int threads = 1;
};

// A timed part of a run: an instruction, or what an engine made of several instructions.
struct EngineStep {
  std::size_t instruction;  // the index of its first instruction in the method
  std::string op, kernel;
  double seconds;
};

// The machine of an engine that computes outside of this process, and what it measured.
struct EngineMachine {
  std::string clock;            // what its clock is or counts, as a phrase
  bool counts_time = true;      // whether ticks of this clock are time
  std::optional<double> taken;  // the time of the last request, in seconds; empty if the caller must time the request
  std::uint64_t peak = 0;       // the most bytes of memory that were in use until now; 0 if this is unknown
  Digests identity = {};        // what identifies the code that computes: names, each with a digest or a version
};

// A runtime that is timed. The time is that of the call that a client of the engine makes: this interface adds no
// copies.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string version() const = 0;

  // Reads the program and prepares its method.
  virtual Reply load(const EngineSettings& settings) = 0;

  // Sets the inputs of all later runs, in the layout that the engine wants. The engine may keep references to the
  // values.
  virtual Reply set_inputs(std::span<const Value> inputs) = 0;

  // Computes, from the inputs, outputs that the client can read.
  virtual Reply run() = 0;

  // A run that also times its steps; an engine without a profile reports no steps.
  virtual Reply run_steps(std::vector<EngineStep>& steps) { return steps.clear(), run(); }

  // The outputs of the last run.
  virtual std::vector<Value> outputs() const = 0;

  // The names of the binaries that compute. The program must be loaded.
  virtual std::vector<std::string> binaries() const = 0;

  // Runs `times` times in a row, without another request between the runs.
  virtual Reply run_times(std::uint32_t times) {
    Reply reply;
    for (; times > 0 && reply.outcome == Outcome::ok; --times) reply = run();
    return reply;
  }

  // Null for an engine in this process.
  virtual const EngineMachine* machine() const { return nullptr; }
};

// The function that a module exports as assay_engine. It makes an engine, which the caller owns.
using MakeEngine = Engine* (*)();

}  // namespace assay::testee
