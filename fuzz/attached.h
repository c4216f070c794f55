#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace assay::fuzz {

// A program and the data file that it is to be loaded with are one input: the data file stands behind the program, at
// a multiple of 64 bytes. Empty: there is none.
std::pair<std::span<const std::byte>, std::span<const std::byte>> split(std::span<const std::byte> input);
std::string attach(std::string program, const std::string& data);

}  // namespace assay::fuzz
