#include "conformance/loaders/read_only.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace assay::loaders {

ReadOnlyFile::ReadOnlyFile(std::span<const std::byte> file) {
  constexpr std::size_t alignment = 16;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t content = std::max<std::size_t>((file.size() + page - 1) / page, 1) * page;
  size_ = content + page;
  void* const memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  pages_ = static_cast<std::byte*>(memory);
  std::byte* const begin = pages_ + (content - file.size()) / alignment * alignment;
  std::ranges::copy(file, begin);
  mprotect(pages_, content, PROT_READ);
  mprotect(pages_ + content, page, PROT_NONE);
  bytes_ = {begin, file.size()};
}

ReadOnlyFile::~ReadOnlyFile() { munmap(pages_, size_); }

}  // namespace assay::loaders
