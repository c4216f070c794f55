#include "fuzz/attached.h"

namespace assay::fuzz {
namespace {

constexpr std::size_t alignment = 64;

}  // namespace

std::pair<std::span<const std::byte>, std::span<const std::byte>> split(std::span<const std::byte> input) {
  for (std::size_t at = alignment; at < input.size(); at += alignment)
    if (file_kind(input.subspan(at)) == &format::data_kind) return {input.first(at), input.subspan(at)};
  return {input, {}};
}

std::vector<File> files_of(std::span<const std::byte> data) {
  return data.empty() ? std::vector<File>() : std::vector{borrowed(data)};
}

std::string attach(std::string program, const std::string& data) {
  if (data.empty()) return program;
  program.resize((program.size() + alignment - 1) / alignment * alignment);
  return program + data;
}

}  // namespace assay::fuzz
