#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/sandbox/child.h"
#include "conformance/testee/runtime.h"
#include "reference/budget.h"
#include "reference/program/program.h"
#include "reference/value.h"

// The first wrong instruction of an opaque delegate. A command of the user builds programs with delegates from parts of
// a plain program. spec/delegates.md defines what the command gets and writes, and the search.
namespace assay::delegates {

// A command that builds programs. In its words, {} is the path of the part, and {out} is the path of the program that
// it writes.
struct BuildCommand {
  std::vector<std::string> words;
  std::chrono::milliseconds time{};  // processor time of one build; the limit of wall time is ten times as much
  int most = 0;                      // the largest number of builds
  const std::atomic<bool>* interrupted = nullptr;
};

// A call of a program of operators.
struct PlainCall {
  const ValidProgram& program;
  std::string_view method;
  std::span<const Value> inputs;
};

// What the search found.
struct BuiltPart {
  std::vector<std::string> instructions;  // "instruction 3 of forward, aten::mm.out: ..."; empty: none is named
  std::string message;                    // why the result is wrong; or, if none is named, the reason
  File program;                           // that the command built of these instructions
  std::vector<Tensor> inputs, expected;   // of this program
  int builds = 0;                         // how often the command was started
  std::string not_judged;                 // why the last part that was not judged was not judged; empty if all were
};

// Finds the shortest wrong beginning of the method and then its shortest wrong end, each by bisection. The budget is
// charged for the values that the reference computes, and for the programs that the command writes. Requires that the
// process has no threads. Throws Interrupted, and Fault: "testee" if the command does not exist, and those of
// IntervalMethod.
BuiltPart first_wrong_part(const PlainCall& plain, const BuildCommand& command, testee::Runtime& runtime,
                           const sandbox::TimeLimit& time_limit, const Budget& budget);

}  // namespace assay::delegates
