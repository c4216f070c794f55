#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/testee/library.h"

namespace assay {

struct EngineSettings {
  std::filesystem::path program;
  std::vector<std::filesystem::path> data;
  std::string method = "forward";
  int threads = 1;
};

// A part of a run: an instruction, or what an engine made of several.
struct EngineStep {
  std::size_t instruction;  // of the method's; the first of them
  std::string op, kernel;
  double seconds;
};

// A runtime that is timed. What is timed is the call itself, as a client of the engine makes it: no copy is made for
// the sake of this interface.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string version() const = 0;

  // Reads the program and makes its method ready.
  virtual Reply load(const EngineSettings& settings) = 0;

  // What every run takes, laid out as the engine wants it. The values stay where they are while the engine lives.
  virtual Reply set_inputs(std::span<const Value> inputs) = 0;

  // From the inputs to outputs that the client can read.
  virtual Reply run() = 0;

  // A run that is timed step by step; without steps where the engine does not tell of them.
  virtual Reply run_steps(std::vector<EngineStep>& steps) { return steps.clear(), run(); }

  // Those of the last run.
  virtual std::vector<Value> outputs() const = 0;

  // The names of the binaries that compute, once the program is loaded.
  virtual std::vector<std::string> binaries() const = 0;
};

// What a module exports as assay_engine: makes an engine, which the caller owns.
using MakeEngine = Engine* (*)();

}  // namespace assay
