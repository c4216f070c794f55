#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/scenarios/recorded_program.h"

namespace assay {

// A file that is no valid program, or may be none.
struct NegativeFile {
  enum class Expectation : std::uint8_t { refused, either };

  std::string name;  // "cut-17 of mlp"
  std::string rule;  // that it breaks; empty where that is not known
  Bytes bytes;
  Expectation expectation = Expectation::refused;
};

// Scenarios of files: each is loaded and, where that is answered, called as the program of which it was made, which is
// refused at the latest.
void add_files(std::vector<Scenario>& all, const Recorded& made_of, std::vector<NegativeFile> files);

// Of a program: cut off at some places, with a header that says other sizes, and with single bits that are others.
std::vector<NegativeFile> damaged(const RecordedProgram& program);

}  // namespace assay
