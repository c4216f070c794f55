#pragma once

#include <string>
#include <vector>

#include "conformance/report/record.h"

namespace assay {

/// What makes cases fail that fail alike.
struct Defect {
  std::string id;  ///< of what it is, not of where it stands
  Verdict verdict = Verdict::fail;
  Class failure = Class::none;
  std::string when;                    ///< "whenever self has NaN"
  std::vector<std::string> operators;  ///< sorted
  std::vector<std::string> cases;      ///< ids of those that fail for it
  std::optional<double> distance;      ///< of the farthest, in units of its bound

  /// Of calls that were drawn to try it: how many satisfy it and how many of these fail alike; how many differ in one
  /// of its words, and how many of these do not.
  int drawn = 0, alike = 0, differing = 0, spared = 0;
  bool explained = false;  ///< at least 19 of 20 of both
  Record smallest;         ///< the simplest call that was found
};

/// One sentence: who does what, and when.
std::string sentence(const Defect& defect);

/// `{"defect":{…}}`, fields in the order above, and back, as from_json_line.
std::string to_json_line(const Defect& defect);
Defect defect_from_json_line(std::string_view line);

}  // namespace assay
