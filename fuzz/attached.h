#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "reference/program/program.h"

namespace assay::fuzz {

// A program and the data file that it is to be loaded with are one input: the data file stands behind the program, at
// a multiple of 64 bytes. Empty: there is none.
std::pair<std::span<const std::byte>, std::span<const std::byte>> split(std::span<const std::byte> input);
std::vector<File> files_of(std::span<const std::byte> data);  // none or one
std::string attach(std::string program, const std::string& data);

}  // namespace assay::fuzz
