#pragma once

#include <span>

namespace assay::sandbox {

// Sends at most three file descriptors to another process, in one message.

// Throws std::system_error.
void send_descriptors(int socket, std::span<const int> descriptors);

// True if as many descriptors arrived; false when the other process has closed the socket.
bool receive_descriptors(int socket, std::span<int> descriptors);

}  // namespace assay::sandbox
