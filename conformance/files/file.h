#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "reference/budget.h"
#include "reference/program/program.h"

// Reads and writes files. Throws Fault: malformed `file` if a file cannot be read, exhausted `output` if it cannot be
// written.
namespace assay {

// How files are read.
struct Access {
  Budget budget;    // pays for the bytes that are read into memory
  bool map = true;  // regular files are mapped, so that only the pages in use are read
};

// An upper bound on the size of a file, by its first 64 bytes.
using Extent = std::uint64_t (*)(std::span<const std::byte> head);
std::uint64_t extent_of_program(std::span<const std::byte> head);  // the extent of a .pte, .ptd or .bpte file

// The bytes of a file. A file that cannot be mapped, such as a pipe, is read: first 64 bytes, then as many as these
// state, so that no more is read of a file of the wrong kind. A file that is truncated while it is mapped ends the
// process.
File open_file(const std::filesystem::path& path, const Access& access = {}, Extent extent = extent_of_program);
Bytes bytes_of_file(const std::filesystem::path& path);
std::string_view characters(const File& file);

std::vector<File> open_data_files(std::span<const std::filesystem::path> paths,
                                  const Access& access = {});  // .ptd files. Faults: F1 for a file of another kind
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void make_folder(const std::filesystem::path& path);  // makes a folder and its parents, unless they exist

}  // namespace assay
