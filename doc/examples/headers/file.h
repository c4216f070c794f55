#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <vector>

// The bytes of a file, read whole for the examples. Real programs map the file.
inline std::vector<std::byte> bytes_of(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes;
  for (std::istreambuf_iterator<char> at(in), end; at != end; ++at) bytes.push_back(static_cast<std::byte>(*at));
  return bytes;
}
