#include "conformance/sandbox/process_size.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "conformance/sandbox/pages.h"

namespace assay::sandbox {

ProcessSize::ProcessSize() : file_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

ProcessSize::~ProcessSize() {
  if (file_ >= 0) close(file_);
}

std::size_t ProcessSize::bytes() const {
  std::array<char, 32> text{};  // the first number is that of all pages
  std::size_t pages = 0;
  const ssize_t length = file_ < 0 ? -1 : pread(file_, text.data(), text.size(), 0);
  if (length > 0) std::from_chars(text.data(), text.data() + length, pages);
  return pages * page_size;
}

}  // namespace assay::sandbox
