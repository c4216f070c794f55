#include "conformance/cases/made.h"

#include <fstream>
#include <sstream>

namespace assay::cases {

MadeCases::MadeCases(const std::filesystem::path& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t hash = line.find('#'), end_of_name = line.find(": ");
    if (hash == 0 && end_of_name != std::string::npos)
      coverage_[line.substr(2, end_of_name - 2)] = line.substr(end_of_name + 2);
    else if (hash != std::string::npos)
      lines_[line.substr(0, hash)].push_back(line);
  }
}

std::string MadeCases::coverage(std::string_view operator_name) const {
  const auto found = coverage_.find(operator_name);
  return found == coverage_.end() ? std::string() : found->second;
}

std::vector<std::string> MadeCases::ids(std::string_view operator_name) const {
  std::vector<std::string> all;
  const auto lines = lines_.find(operator_name);
  if (lines == lines_.end()) return all;
  for (const std::string& line : lines->second) {
    std::istringstream words(line);
    std::string recorded;
    words >> recorded;
    for (std::string mutations; words >> mutations;) all.push_back(recorded + "~" + mutations);
  }
  return all;
}

}  // namespace assay::cases
