#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "reference/program/program.h"

namespace assay::fuzz {

// One input holds a program and the data file to load it with. The data file follows the program at a multiple of 64
// bytes. The second span is empty if there is no data file.
std::pair<std::span<const std::byte>, std::span<const std::byte>> split(std::span<const std::byte> input);
std::vector<File> files_of(std::span<const std::byte> data);  // none or one file
std::string attach(std::string program, const std::string& data);

}  // namespace assay::fuzz
