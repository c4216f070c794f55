#pragma once

#include <span>
#include <vector>

namespace assay::sandbox {

// processors(): the processors that the calling thread may run on, ascending. keep_on(): restricts the calling thread,
// and the threads that it starts, to `processors`.
std::vector<int> processors();
void keep_on(std::span<const int> processors);

}  // namespace assay::sandbox
