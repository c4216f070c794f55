#pragma once

#include <functional>

namespace assay::sandbox {

// Calls f and returns true; false if f called abort() in this thread, from which this function recovers by longjmp. The
// memory and locks that f held are not released, so that a later call may wait forever for a lock.
bool recovers_from_abort(const std::function<void()>& f);

}  // namespace assay::sandbox
