#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/inspect/coverage.h"
#include "conformance/inspect/testee_needs.h"
#include "reference/program/program.h"
#include "reference/runtime/call_rules.h"

// Whether a file keeps the rules of its format, what a program needs of those who run it, and what was not looked at.
namespace assay {

// The first of many, and how many there are besides.
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
  // Likewise, those that the testee's runtime says: {"prepared", 4096}.
  std::vector<std::pair<std::string, std::uint64_t>> memories = {};
};

struct CheckReport {
  FileKind kind = FileKind::program;  // what does not say what it is, is held to be a program
  std::uint64_t bytes = 0;
  Some<Fault> faults;  // none: valid
  Coverage coverage;
  std::uint64_t named = 0, cases = 0;  // of a data file, of a bundle
  // Of a program or of that in a bundle, if it keeps the rules of files.
  Some<MethodNeeds> methods;
  std::uint64_t operators = 0;  // that are called
  Some<std::string> unknown_operators;
  CallFaults calls;            // with those of payloads; its faults stand above
  std::uint64_t payloads = 0;  // that were checked: those of the reference's own backend, as they are programs
  Some<std::string> unchecked_payloads;  // "delegate 0 of forward, for XnnpackBackend"
  std::string testee;                    // empty: none was asked for
  Some<std::string> lacking;             // each instruction that the testee has no kernel for, and why

  // That of the first fault; unsupported where only a kernel of the testee is missing.
  Outcome outcome() const {
    return !faults.empty() ? faults.first.front().outcome : lacking.empty() ? Outcome::ok : Outcome::unsupported;
  }
};

// Of a .pte, .ptd or .bpte file; `data` are .ptd files that a program is to be loaded with, `testee` may be null.
// Charges the scope's budget.
CheckReport check(const File& file, std::span<const File> data = {}, const Budget& budget = {},
                  const Testee* testee = nullptr);

void write_text(const CheckReport& report, Output& out);  // a fault per line, or "valid", and what was looked at
void write_json(const CheckReport& report, JsonOutput& out);

}  // namespace assay
