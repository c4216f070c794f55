#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/testees/library.h"

namespace assay {

// A program that a runtime under test has loaded; state lives in it from call to call.
class TesteeProgram {
 public:
  virtual ~TesteeProgram() = default;

  // Runs a method. A tensor among the inputs has the dim order that the program declares. May crash.
  virtual Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) = 0;
};

struct LoadSettings {
  std::filesystem::path program;
  std::vector<std::filesystem::path> data;
  bool share_arenas = false;                // methods share the planned memories into which one of them plans state
  std::filesystem::path packed_cache = {};  // a folder that keeps packed constants, of a runtime that packs any
};

// A runtime under test.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual std::string_view name() const = 0;

  // Whether another process or machine computes, of which nobody here sees the processor time.
  virtual bool is_remote() const { return false; }

  // Null where the program is refused, `reply` says why. May crash.
  virtual std::unique_ptr<TesteeProgram> load(const LoadSettings& settings, Reply& reply) = 0;
};

// What a module exports as assay_runtime: makes the runtime, which the caller owns.
using MakeRuntime = Runtime* (*)();

}  // namespace assay
