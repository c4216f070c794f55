#include "conformance/testees/nursery.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "conformance/testees/child.h"

namespace assay {
namespace {

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

using Descriptors = std::array<int, 2>;  // a child's socket and its output

// One byte that carries two descriptors, and the room that the kernel wants for them.
struct Message {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(Descriptors))> control{};
  msghdr header{nullptr, 0, &part, 1, control.data(), control.size(), 0};
};

void send_descriptors(int socket, const Descriptors& descriptors) {
  Message m;
  cmsghdr* const c = CMSG_FIRSTHDR(&m.header);
  c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(c), &descriptors, sizeof descriptors);
  if (uninterrupted([&] { return sendmsg(socket, &m.header, MSG_NOSIGNAL); }) < 0) fail("sendmsg");
}

bool receive_descriptors(int socket, Descriptors& descriptors) {
  Message m;
  if (uninterrupted([&] { return recvmsg(socket, &m.header, 0); }) <= 0) return false;
  const cmsghdr* const c = CMSG_FIRSTHDR(&m.header);
  if (!c || c->cmsg_len != CMSG_LEN(sizeof descriptors)) return false;
  std::memcpy(&descriptors, CMSG_DATA(c), sizeof descriptors);
  return true;
}

// As fork, but the new process is a child of the caller's parent.
pid_t fork_sibling() { return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); }

// Dies with its parent; leaves an interrupt to it.
void attach(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it died before the line above
  for (int s : {SIGINT, SIGTERM}) std::signal(s, SIG_IGN);
}

// A child says how it died by its signal, so sanitizers do not catch it.
void become_child(int output) {
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) std::signal(s, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(nothing);
  close(output);
}

}  // namespace

Nursery::Nursery(std::function<Work(std::string_view)> work) : work_(std::move(work)), parent_(getpid()) {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) fail("socketpair");
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    close(sockets[0]);
    attach(parent_);
    // A thread's heap and stack are its own: no child begins with the leavings of what its parent did before.
    std::jthread([&] { serve(sockets[1]); }).join();
  }
  close(sockets[1]);
  requests_ = sockets[0];
}

Nursery::~Nursery() {
  close(requests_);
  uninterrupted([&] { return waitpid(pid_, nullptr, 0); });
}

pid_t Nursery::bear(int socket, int output) {
  const std::lock_guard lock(mutex_);
  send_descriptors(requests_, {socket, output});
  pid_t child = -1;
  if (uninterrupted([&] { return recv(requests_, &child, sizeof child, 0); }) != sizeof child || child < 0)
    throw std::system_error(EAGAIN, std::generic_category(), "clone");
  return child;
}

// Between children nothing of its memory changes.
void Nursery::serve(int requests) const {
  for (Descriptors d; receive_descriptors(requests, d);) {
    const pid_t child = fork_sibling();
    if (child == 0) {
      close(requests);
      attach(parent_);
      become_child(d[1]);
      work_until_closed(d[0], work_);
      _exit(0);
    }
    for (int descriptor : d) close(descriptor);
    if (send(requests, &child, sizeof child, MSG_NOSIGNAL) != sizeof child) break;
  }
  _exit(0);
}

}  // namespace assay
