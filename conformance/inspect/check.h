#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/inspect/coverage.h"
#include "conformance/inspect/testee_needs.h"
#include "reference/program/program.h"
#include "reference/runtime/call_rules.h"

// Checks whether a file keeps the rules of its format, lists what a program needs from a runtime, and states what was
// not checked.
namespace assay::inspect {

// The first elements of a list, and the number of further elements.
template <class T>
struct Some {
  static constexpr std::size_t most = 100;
  std::vector<T> first;
  std::uint64_t more = 0;

  void add(T one) { first.size() < most ? first.push_back(std::move(one)) : void(++more); }
  bool empty() const { return first.empty(); }
  std::uint64_t size() const { return first.size() + more; }
};

struct MethodNeeds {
  std::string name;
  std::uint64_t instructions;
  Int planned;  // bytes of memory
  // Further memories that the testee's runtime needs, in bytes: {"prepared", 4096}.
  std::vector<std::pair<std::string, std::uint64_t>> memories = {};
};

struct CheckReport {
  const format::FileKind* kind = &format::program_kind;  // a file without a known identifier is checked as a program
  std::uint64_t bytes = 0;
  Some<Fault> faults;  // empty if the file is valid
  Coverage coverage;
  std::optional<std::uint64_t> named, cases;  // number of entries in a data file; number of cases in a bundle
  // The methods of a program, or of the program in a bundle, that keeps the rules of files.
  Some<MethodNeeds> methods;
  std::uint64_t operators = 0;  // that the program calls
  Some<std::string> unknown_operators;
  CallFaults calls;                      // with the calls in payloads; its faults are among `faults`
  std::uint64_t payloads = 0;            // number of checked payloads: payloads of a kind in format/kinds.cpp
  Some<std::string> unchecked_payloads;  // "delegate 0 of forward, for XnnpackBackend"
  std::string testee;                    // empty if no testee was requested
  Some<std::string> wanted_data;         // the names of external data that no file has; a method cannot run without
  Some<std::string> lacking;  // each delegate and each instruction that the testee cannot run, with the reason
  Tries tries;

  // The outcome of the first fault; unsupported if the only problem is a missing kernel or backend of the testee.
  Outcome outcome() const {
    return !faults.empty() ? faults.first.front().outcome : lacking.empty() ? Outcome::ok : Outcome::unsupported;
  }
};

// Checks a .pte, .ptd or .bpte file. `data` are the .ptd files that a program is loaded with; `testee` may be null.
// Charges the budget of the scope.
CheckReport check(const File& file, std::span<const File> data = {}, const Budget& budget = {},
                  const Testee* testee = nullptr);

void write_text(const CheckReport& report, text::Output& out);  // a fault per line, or "valid", and what was checked
void write_json(const CheckReport& report, text::JsonOutput& out);

}  // namespace assay::inspect
