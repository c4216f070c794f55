#include "conformance/sandbox/processors.h"

#include <sched.h>

#include <cstddef>

namespace assay::sandbox {

std::vector<int> processors() {
  cpu_set_t set{};  // stays empty when the system does not tell
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> all;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) all.push_back(static_cast<int>(i));
  return all;
}

void keep_on(std::span<const int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace assay::sandbox
