#pragma once

#include <functional>

namespace assay {

// Calls f, and outlives it: false where f called abort() in this thread. What f held then, memory and locks, is held by
// nobody any more, so that what is called later may wait forever.
bool recovers_from_abort(const std::function<void()>& f);

}  // namespace assay
