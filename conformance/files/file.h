#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "reference/budget.h"
#include "reference/program/program.h"

// Files as they come in, and as they go out. Throws Fault: malformed `file` where one cannot be read, exhausted
// `output` where it cannot be written.
namespace assay {

// How files are read.
struct Access {
  Budget budget;    // charged for what is read into memory
  bool map = true;  // regular files are mapped, so that nothing is read of them but what is looked at
};

// How many bytes a file has at most, by its first 64.
using Extent = std::uint64_t (*)(std::span<const std::byte> head);
std::uint64_t extent_of_program(std::span<const std::byte> head);  // of a .pte, .ptd or .bpte file

// The bytes of a file. What is not mapped, such as a pipe, is read: 64 bytes first, then as many as those say that it
// has, so that nothing more is read of a file of the wrong kind. One that is truncated while it is mapped ends the
// process.
File open_file(const std::filesystem::path& path, const Access& access = {}, Extent extent = extent_of_program);
Bytes bytes_of_file(const std::filesystem::path& path);
std::string_view characters(const File& file);

std::vector<File> open_data_files(std::span<const std::filesystem::path> paths,
                                  const Access& access = {});  // .ptd files; malformed F1 where one is none
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void make_folder(const std::filesystem::path& path);  // and those above it; one that is there stays

}  // namespace assay
