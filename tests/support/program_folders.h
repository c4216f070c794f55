#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "golden.h"

namespace assay {

// The folders of the recorded programs, one per test.
inline std::vector<std::filesystem::path> program_folders() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder() / "programs"))
    if (entry.is_directory()) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

inline std::string name_of_folder(const testing::TestParamInfo<std::filesystem::path>& tested) {
  return tested.param.filename().string();
}

}  // namespace assay
