#include "conformance/runner/known.h"

#include <fstream>

#include "reference/fault.h"

namespace assay {

std::set<std::string> known_failures(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) throw Fault(Outcome::malformed, "known", text(file, " cannot be read"));
  std::set<std::string> cases;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !line.starts_with('#')) cases.insert(line.substr(0, line.find(' ')));
  return cases;
}

}  // namespace assay
