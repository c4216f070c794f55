#pragma once

#include <cstddef>

namespace assay::sandbox {

// The size of the address space of the process that constructs it, as the system counts it.
class ProcessSize {
 public:
  ProcessSize();
  ~ProcessSize();
  ProcessSize(const ProcessSize&) = delete;
  ProcessSize& operator=(const ProcessSize&) = delete;

  std::size_t bytes() const;  // 0 where the system does not tell it

 private:
  int file_;
};

}  // namespace assay::sandbox
