#include "conformance/sandbox/pages.h"

#include <cerrno>
#include <system_error>

namespace assay::sandbox {
namespace {

constexpr int untouched = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

std::byte* reserve(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_NONE, untouched, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return static_cast<std::byte*>(memory);
}

bool make_usable(std::span<std::byte> pages) {
  return mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE) == 0;
}

void populate(std::span<std::byte> pages) { madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE); }

bool make_read_only(std::span<std::byte> pages) { return mprotect(pages.data(), pages.size(), PROT_READ) == 0; }

bool retire(std::span<std::byte> pages) {
  return pages.empty() || mmap(pages.data(), pages.size(), PROT_NONE, untouched | MAP_FIXED, -1, 0) != MAP_FAILED;
}

}  // namespace assay::sandbox
