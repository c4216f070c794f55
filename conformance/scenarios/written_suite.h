#pragma once

#include <filesystem>
#include <ostream>

#include "conformance/scenarios/scenario.h"

namespace assay {

// Writes scenarios as files, for who runs them elsewhere: spec/runtime_suite.md says what they are.
class WrittenSuite {
 public:
  // Programs go into the folder, lines of the manifest to the stream.
  WrittenSuite(std::filesystem::path folder, std::ostream& manifest)
      : folder_(std::move(folder)), manifest_(manifest) {}

  void add(const Scenario& scenario);

 private:
  std::string file(const std::filesystem::path& contents, std::string_view suffix) const;  // its name in the folder

  std::filesystem::path folder_;
  std::ostream& manifest_;
};

}  // namespace assay
