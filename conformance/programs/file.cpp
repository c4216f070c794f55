#include "conformance/programs/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "reference/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

Fault unreadable(const fs::path& path, std::string_view why) {
  return {Outcome::malformed, "file", text(path.string(), " cannot be read: ", why)};
}
Fault unwritable(const fs::path& path, std::string_view why) {
  return {Outcome::exhausted, "output", text(path.string(), " cannot be written: ", why)};
}

}  // namespace

std::vector<std::byte> read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw unreadable(path, "it is a folder");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw unreadable(path, std::strerror(errno));
  std::vector<std::byte> bytes;
  constexpr std::size_t step = std::size_t{1} << 20;  // the size of a pipe is not known before its end
  while (in) {
    const std::size_t before = bytes.size();
    bytes.resize(std::max(2 * before, step));
    in.read(reinterpret_cast<char*>(bytes.data() + before), static_cast<std::streamsize>(bytes.size() - before));
    bytes.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw unreadable(path, std::strerror(errno));
  return bytes;
}

std::vector<std::vector<std::byte>> read_data(std::span<const fs::path> paths) {
  std::vector<std::vector<std::byte>> files;
  for (const fs::path& path : paths) {
    files.push_back(read_file(path));
    if (file_kind(files.back()) != FileKind::data)
      throw Fault(Outcome::malformed, "F1", text(path.string(), " is no data file (.ptd)"));
  }
  return files;
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw unwritable(path, std::strerror(errno));
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!fs::is_directory(path)) throw unwritable(path, error ? error.message() : "it is no folder");
}

}  // namespace assay
