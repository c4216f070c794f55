#include "conformance/runner/case_list.h"

#include <fstream>

#include "reference/fault.h"

namespace assay {

std::set<std::string> read_case_list(const std::string& file, const std::string& rule) {
  std::ifstream lines(file);
  if (!lines) throw Fault(Outcome::malformed, rule, text(file, " cannot be read"));
  std::set<std::string> cases;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !line.starts_with('#')) cases.insert(line.substr(0, line.find(' ')));
  return cases;
}

std::set<std::string> read_cases(const std::string& file, const std::string& rule, const Corpus& corpus) {
  std::set<std::string> cases = read_case_list(file, rule);
  try {
    for (const std::string& id : cases) static_cast<void>(corpus.make(case_id_from(id)));
  } catch (Fault& fault) {
    fault.place = file;
    throw;
  }
  return cases;
}

}  // namespace assay
