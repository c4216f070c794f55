#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "conformance/verdict/defect.h"

// The lines of a run file: one header, a line for each case, one for each defect, one footer. spec/verdicts.md defines
// their words.
namespace assay::verdict {

struct RunFile {
  std::string header;  // the header line
  std::vector<Record> records;
  std::vector<Defect> defects;
  std::string footer;     // the footer line; empty if the file was cut off
  bool complete = false;  // whether the run is complete, as the footer states
  // The promises that no answered call tried: operators and their dtypes.
  std::vector<NamedText> untried = {};
};

// A digest of the ids (16 digits), verdicts and classes of cases, independent of their order.
class VerdictsDigest {
 public:
  void add(const Record& record);
  std::string text() const;

 private:
  std::uint64_t sum_ = 0;
};
std::string verdicts_digest(const RunFile& run);

// One sentence about the first count in the header or footer that differs from the lines; empty if all agree.
std::string miscounted(const RunFile& run);

// Reads up to where the file was cut off. A case has one line at most. Throws std::invalid_argument that begins with
// the number of the bad line.
RunFile read_run(std::istream& lines);

}  // namespace assay::verdict
