#include "conformance/files/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "conformance/text/printable.h"
#include "format/check.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

Fault unreadable(const fs::path& path, std::string_view why) {
  return {Outcome::malformed, "file", text(printable(path.string()), " cannot be read: ", why)};
}
Fault unwritable(const fs::path& path, std::string_view why) {
  return {Outcome::exhausted, "output", text(printable(path.string()), " cannot be written: ", why)};
}

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

// An open file.
class Input {
 public:
  // Without O_NONBLOCK, opening a named pipe waits for a writer, possibly forever.
  explicit Input(const fs::path& path) : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_.number < 0 || fstat(file_.number, &status_) != 0) refuse();
    if (S_ISDIR(status_.st_mode)) throw unreadable(path_, "it is a folder");
    if (fcntl(file_.number, F_SETFL, 0) != 0) refuse();
  }

  // 0 if it is unknown, for a pipe, a device or a virtual file
  std::uint64_t size() const { return S_ISREG(status_.st_mode) ? static_cast<std::uint64_t>(status_.st_size) : 0; }

  // Returns nothing if the system cannot map the file.
  std::optional<File> mapped() const {
    void* const memory = size() == 0 ? MAP_FAILED : mmap(nullptr, size(), PROT_READ, MAP_PRIVATE, file_.number, 0);
    if (memory == MAP_FAILED) return {};
    return File{
        {static_cast<const std::byte*>(memory), size()},
        std::shared_ptr<const void>(memory, [n = size()](const void* at) { munmap(const_cast<void*>(at), n); })};
  }

  // Reads until there are `most` bytes or the file ends.
  void read(Buffer<std::byte>& bytes, std::uint64_t most) const {
    constexpr std::uint64_t step = std::uint64_t{1} << 16;  // the capacity of a pipe
    if (size() > 0) most = std::min(most, size());
    if (size() > 0) bytes.reserve(most);
    for (std::size_t came = 1; came > 0 && bytes.size() < most;) {
      const std::size_t before = bytes.size();
      bytes.resize(before + std::min(most - before, std::max(step, size())));
      came = read(std::span(bytes).subspan(before));
      bytes.resize(before + came);
    }
  }

 private:
  std::size_t read(std::span<std::byte> to) const {
    while (true) {
      const ssize_t came = ::read(file_.number, to.data(), to.size());
      if (came >= 0) return static_cast<std::size_t>(came);
      if (errno != EINTR) refuse();
    }
  }
  [[noreturn]] void refuse() const { throw unreadable(path_, std::strerror(errno)); }

  const fs::path& path_;
  Descriptor file_;
  struct stat status_ {};
};

File copied(const Input& input, const Access& access, Extent extent) {
  const Budget::Scope scope(access.budget, "a file that is read");
  const auto bytes = std::make_shared<Buffer<std::byte>>();
  input.read(*bytes, format::head_bytes);
  if (bytes->size() == format::head_bytes)
    input.read(*bytes, std::max<std::uint64_t>(extent(*bytes), format::head_bytes));
  return {*bytes, bytes};
}

}  // namespace

std::uint64_t extent_of_program(std::span<const std::byte> head) {
  FaultList faults;
  const FileKind* kind = file_kind(head);
  if (!kind) return head.size();
  const auto extent = kind->locate(head, everything, faults.findings());  // empty if the header is absent or wrong
  return extent ? std::max(extent->tables_size, extent->segments_begin + extent->segments_size) : everything;
}

File open_file(const fs::path& path, const Access& access, Extent extent) {
  const Input input(path);
  auto mapped = access.map ? input.mapped() : std::nullopt;
  return mapped ? std::move(*mapped) : copied(input, access, extent);
}

Bytes bytes_of_file(const fs::path& path) {
  const File file = open_file(path);
  return {file.bytes.begin(), file.bytes.end()};
}

std::string_view characters(const File& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

std::vector<File> open_data_files(std::span<const fs::path> paths, const Access& access) {
  std::vector<File> files;
  for (const fs::path& path : paths) {
    files.push_back(open_file(path, access));
    if (file_kind(files.back().bytes) != &format::data_kind)
      throw Fault(Outcome::malformed, "F1", text(printable(path.string()), " is no data file (.ptd)"));
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
