#include "conformance/sandbox/file_in_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "conformance/sandbox/child.h"
#include "reference/fault.h"

namespace assay::sandbox {

FileInMemory::FileInMemory(std::span<const std::byte> bytes) : descriptor_(memfd_create("program", MFD_CLOEXEC)) {
  while (!bytes.empty()) {
    const auto written = uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (written < 0) {
      close(descriptor_);
      throw Fault(Outcome::exhausted, "output", concat("there is no memory for a file of ", bytes.size(), " bytes"));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

FileInMemory::~FileInMemory() { close(descriptor_); }

std::filesystem::path FileInMemory::path() const { return concat("/proc/self/fd/", descriptor_); }

}  // namespace assay::sandbox
