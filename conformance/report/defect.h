#pragma once

#include <string>

#include "conformance/report/record.h"

namespace assay {

/// What the search for a simpler call found behind a failing case.
struct Defect {
  std::string from;  ///< the case that it began with
  Record smallest;   ///< fails alike: the same verdict and class
};

/// `{"defect":{"from":…,"smallest":…}}`, the second a record as above, and back, as from_json_line.
std::string to_json_line(const Defect& defect);
Defect defect_from_json_line(std::string_view line);

}  // namespace assay
