#pragma once

#include <filesystem>
#include <ostream>

#include "conformance/scenarios/scenario.h"

namespace assay::scenarios {

// Writes scenarios as files, so that another host can run them. spec/runtime_suite.md defines the files.
class WrittenSuite {
 public:
  // Writes programs to the folder and manifest lines to the stream.
  WrittenSuite(std::filesystem::path folder, std::ostream& manifest)
      : folder_(std::move(folder)), manifest_(manifest) {}

  void add(const Scenario& scenario);

 private:
  std::string file(const std::filesystem::path& contents, std::string_view suffix) const;  // the name in the folder

  std::filesystem::path folder_;
  std::ostream& manifest_;
};

}  // namespace assay::scenarios
