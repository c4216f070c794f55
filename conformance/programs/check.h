#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "conformance/text/json.h"
#include "reference/program/unpacked.h"

// Whether a file keeps the rules of its format, and what a program needs of those who run it.
namespace assay {

struct MethodNeeds {
  std::string name;
  std::size_t instructions;
  Int planned;  // bytes of memory
};

struct CheckReport {
  FileKind kind = FileKind::program;  // what does not say what it is, is held to be a program
  std::vector<Fault> faults;          // none: valid
  std::vector<MethodNeeds> methods;   // of a program or of that in a bundle, if it is valid
  std::size_t operators = 0;
  std::vector<std::string> unknown_operators, backends;
  std::size_t named = 0, cases = 0;  // of a data file, of a bundle
};

// Of a .pte, .ptd or .bpte file; `data` are .ptd files that a program is to be loaded with.
CheckReport check(std::span<const std::byte> file, std::span<const std::vector<std::byte>> data = {});

std::string to_text(const CheckReport& report);  // a fault per line, or "valid" and some lines
Json to_json(const CheckReport& report);

}  // namespace assay
