#include "conformance/sandbox/descriptors.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "conformance/sandbox/child.h"

namespace assay::sandbox {
namespace {

constexpr std::size_t most_descriptors = 3;

// One byte of data that carries the descriptors, and the control buffer that the kernel needs for them.
struct Message {
  explicit Message(std::size_t descriptors) { header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int)); }

  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> control{};
  msghdr header{nullptr, 0, &part, 1, control.data(), 0, 0};
};

}  // namespace

void send_descriptors(int socket, std::span<const int> descriptors) {
  Message m(descriptors.size());
  cmsghdr* const c = CMSG_FIRSTHDR(&m.header);
  c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(c), descriptors.data(), descriptors.size_bytes());
  if (uninterrupted([&] { return sendmsg(socket, &m.header, MSG_NOSIGNAL); }) < 0)
    throw std::system_error(errno, std::generic_category(), "sendmsg");
}

bool receive_descriptors(int socket, std::span<int> descriptors) {
  Message m(descriptors.size());
  if (uninterrupted([&] { return recvmsg(socket, &m.header, 0); }) <= 0) return false;
  const cmsghdr* const c = CMSG_FIRSTHDR(&m.header);
  if (!c || c->cmsg_len != CMSG_LEN(descriptors.size_bytes())) return false;
  std::memcpy(descriptors.data(), CMSG_DATA(c), descriptors.size_bytes());
  return true;
}

}  // namespace assay::sandbox
