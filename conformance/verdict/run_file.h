#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "conformance/verdict/defect.h"

/// The lines of a run: one header, a line for each case, one for each defect, one footer. spec/verdicts.md has the
/// words.
namespace assay {

struct RunFile {
  std::string header;  ///< its line
  std::vector<Record> records;
  std::vector<Defect> defects;
  std::string footer;     ///< its line; none where it was cut off
  bool complete = false;  ///< as its footer says
};

/// What was said of cases, in whatever order: 16 digits of their ids, verdicts and classes.
class VerdictsDigest {
 public:
  void add(const Record& record);
  std::string text() const;

 private:
  std::uint64_t sum_ = 0;
};
std::string verdicts_digest(const RunFile& run);

/// What its header or footer counts otherwise than its lines: one sentence, or nothing.
std::string miscounted(const RunFile& run);

/// Up to where the file was cut off, if it was. Throws std::invalid_argument that begins with the number of a bad line.
RunFile read_run(std::istream& lines);

}  // namespace assay
