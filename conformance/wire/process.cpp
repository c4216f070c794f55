#include "conformance/wire/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <vector>

#include "conformance/sandbox/child.h"
#include "conformance/testee/no_testee.h"

namespace assay::wire {
namespace {

using namespace std::chrono_literals;

// Turns this process into the command. It is killed when its parent ends, and has no other files than these.
[[noreturn]] void become(const Command& command, int wire, int errors, int failed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int s : {SIGINT, SIGTERM, SIGPIPE}) std::signal(s, SIG_DFL);
  dup2(wire, STDIN_FILENO);
  dup2(wire, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  const int told = dup2(failed, STDERR_FILENO + 1);
  fcntl(told, F_SETFD, FD_CLOEXEC);
  close_range(static_cast<unsigned>(told) + 1, ~0U, 0);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  static_cast<void>(!::write(told, &errno, sizeof errno));
  _exit(127);
}

}  // namespace

Process::Process(const Command& command, int wire, int errors) {
  std::array<int, 2> failed{};
  if (pipe2(failed.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  pid_ = fork();
  if (pid_ == 0) become(command, wire, errors, failed[1]);
  int error = errno;
  ::close(failed[1]);
  const bool told =
      pid_ > 0 && sandbox::uninterrupted([&] { return ::read(failed[0], &error, sizeof error); }) == sizeof error;
  ::close(failed[0]);
  if (pid_ > 0 && !told) return;
  if (pid_ > 0) sandbox::uninterrupted([&] { return waitpid(pid_, nullptr, 0); });
  testee::no_testee("the command ", command.words[0], " cannot be started: ", std::generic_category().message(error));
}

Process::~Process() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  sandbox::uninterrupted([&] { return waitpid(pid_, nullptr, 0); });
}

std::optional<int> Process::status(std::chrono::milliseconds within) {
  int status = 0;
  for (const auto end = std::chrono::steady_clock::now() + within; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(1ms)) {
    if (sandbox::uninterrupted([&] { return waitpid(pid_, &status, WNOHANG); }) == 0) continue;
    pid_ = -1;
    return status;
  }
  return std::nullopt;
}

// SOCK_SEQPACKET keeps the boundaries between requests, which a stream would not.
Forker::Forker(const Command& command, int errors) {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  requests_ = sockets[0];
  try {
    process_.emplace(command, sockets[1], errors);
  } catch (...) {
    for (const int socket : sockets) ::close(socket);
    throw;
  }
  ::close(sockets[1]);
}

Forker::~Forker() { ::close(requests_); }

}  // namespace assay::wire
