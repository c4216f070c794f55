#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

// Whole files. Throws Fault: malformed `file` where one cannot be read, exhausted `output` where it cannot be written.
namespace assay {

std::vector<std::byte> read_file(const std::filesystem::path& path);
std::vector<std::vector<std::byte>> read_data(
    std::span<const std::filesystem::path> paths);  // .ptd files; malformed F1 where one is none
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void make_folder(const std::filesystem::path& path);  // and those above it; one that is there stays

}  // namespace assay
