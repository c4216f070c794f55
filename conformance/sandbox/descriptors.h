#pragma once

#include <span>

namespace assay {

// Descriptors, at most three, as they are sent to another process, together.

// Throws std::system_error.
void send_descriptors(int socket, std::span<const int> descriptors);

// Whether so many came: none do when nobody is left to send any.
bool receive_descriptors(int socket, std::span<int> descriptors);

}  // namespace assay
