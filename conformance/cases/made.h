#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cases {

// The cases that tests/operators/made_cases.cpp has chosen: calls at the sizes on which kernels branch, and calls that
// cover the pairs of features. A line of the file has the id of a recorded call and, after spaces, the mutations of
// each case; `~` joins the mutations of one case. A line "# OPERATOR: TEXT" states what the cases of an operator cover.
class MadeCases {
 public:
  static constexpr std::string_view file_name = "made_cases.txt";

  MadeCases() = default;
  explicit MadeCases(const std::filesystem::path& file);  // a missing file has no cases

  std::vector<std::string> ids(std::string_view operator_name) const;
  std::string coverage(std::string_view operator_name) const;  // empty if the file does not state it

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> lines_;  // by operator
  std::map<std::string, std::string, std::less<>> coverage_;            // by operator
};

}  // namespace assay::cases
