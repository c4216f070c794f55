#include "conformance/sandbox/fork_server.h"

#include <fcntl.h>
#include <malloc.h>
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

#include "conformance/sandbox/child.h"
#include "conformance/sandbox/descriptors.h"

namespace assay::sandbox {
namespace {

[[noreturn]] void system_call_failed(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

using Descriptors = std::array<int, 2>;  // the worker's socket and its output

// Like fork(), but the new process becomes a child of the caller's parent.
pid_t fork_sibling() { return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); }

// The process dies with its parent and ignores interrupts, which the parent handles.
void attach(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // the parent died before the line above
  for (int s : {SIGINT, SIGTERM}) std::signal(s, SIG_IGN);
}

bool worker = false;

// A worker reports how it died by its signal, so the sanitizers' handlers are removed.
void become_child(int output) {
  worker = true;
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

bool is_worker() { return worker; }

ForkServer::ForkServer(std::function<Work(std::string_view)> work, int copies)
    : work_(std::move(work)), parent_(getpid()), copies_(static_cast<std::size_t>(copies)) {
  malloc_trim(0);  // Otherwise the page tables of free pages would be copied for each worker.
  // A batch process does not preempt its parent with every answer, but runs when the parent has no task left to give.
  const sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) system_call_failed("socketpair");
  for (pid_t& copy : copies_) {
    copy = fork();
    if (copy < 0) system_call_failed("fork");
    if (copy > 0) continue;
    close(sockets[0]);
    attach(parent_);
    // Each thread has a heap arena and a stack of its own, so that no worker starts with memory that its parent wrote.
    std::jthread([&] { serve(sockets[1]); }).join();
  }
  close(sockets[1]);
  requests_ = sockets[0];
}

ForkServer::~ForkServer() {
  close(requests_);
  for (const pid_t copy : copies_) uninterrupted([&] { return waitpid(copy, nullptr, 0); });
}

// Any copy may take the request; the worker tells its process id.
pid_t ForkServer::fork_child(const std::array<int, 2>& sockets, int output) {
  send_descriptors(requests_, Descriptors{sockets[1], output});
  close(sockets[1]);
  close(output);
  pid_t child = -1;
  if (uninterrupted([&] { return recv(sockets[0], &child, sizeof child, MSG_WAITALL); }) != sizeof child)
    throw std::system_error(EAGAIN, std::generic_category(), "clone");
  return child;
}

// The memory of a copy does not change between two forks.
void ForkServer::serve(int requests) const {
  for (Descriptors d; receive_descriptors(requests, d);) {
    if (fork_sibling() == 0) {
      close(requests);
      attach(parent_);
      become_child(d[1]);
      const pid_t self = getpid();
      if (send(d[0], &self, sizeof self, MSG_NOSIGNAL) == sizeof self) work_until_closed(d[0], work_);
      _exit(0);
    }
    for (int descriptor : d) close(descriptor);
  }
  _exit(0);
}

}  // namespace assay::sandbox
