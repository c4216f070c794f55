#pragma once

#include <span>
#include <vector>

namespace assay {

// The processors that the calling thread may run on, in their order; and keeps it, with the threads that it starts, on
// these.
std::vector<int> processors();
void keep_on(std::span<const int> processors);

}  // namespace assay
