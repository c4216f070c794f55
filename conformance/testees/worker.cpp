#include "conformance/testees/worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace assay {
namespace {

constexpr std::size_t tail_bytes = 2048;

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

// f() again as long as a signal interrupts it.
template <class F>
auto uninterrupted(F f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

// A child says how it died by its signal, so sanitizers do not catch it; an interrupt is the parent's to handle.
void reset_signals() {
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) std::signal(s, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);
}

void become_child(pid_t parent, int output, const std::vector<int>& inherited) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it died before the line above
  reset_signals();
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (int descriptor : inherited) close(descriptor);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(nothing);
  close(output);
}

}  // namespace

Worker::Worker(const std::function<void(int)>& child, const std::vector<int>& inherited) {
  std::array<int, 2> sockets{}, pipe_ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()) != 0) fail("socketpair");
  if (pipe2(pipe_ends.data(), O_NONBLOCK) != 0) fail("pipe2");
  fcntl(pipe_ends[1], F_SETFL, 0);  // the child's end blocks
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    close(sockets[0]);
    close(pipe_ends[0]);
    become_child(parent, pipe_ends[1], inherited);
    child(sockets[1]);
    _exit(0);
  }
  close(sockets[1]);
  close(pipe_ends[1]);
  socket_ = sockets[0];
  output_ = pipe_ends[0];
}

Worker::~Worker() {
  wait_for_death();
  close(socket_);
  if (output_ >= 0) close(output_);
}

void Worker::push(std::string task) {
  if (tasks_.empty()) since_ = Clock::now();
  unsent_ += encode(0, task);
  tasks_.push_back(std::move(task));
}

std::string Worker::pop() {
  std::string task = std::move(tasks_.front());
  tasks_.pop_front();
  const Clock::time_point now = Clock::now();
  pace_ = now - since_;
  since_ = now;
  return task;
}

void Worker::send() {
  while (!unsent_.empty()) {
    const auto sent =
        uninterrupted([&] { return ::send(socket_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT); });
    if (sent < 0) return;  // full, or the child is dead, which receive() tells
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
}

bool Worker::receive() {
  std::array<char, 1 << 16> bytes;
  for (;;) {
    const auto got = uninterrupted([&] { return recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT); });
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (got <= 0) return false;
    frames_.append({bytes.data(), static_cast<std::size_t>(got)});
    if (static_cast<std::size_t>(got) < bytes.size()) return true;
  }
}

void Worker::read_output() {
  std::array<char, 1 << 12> bytes;
  while (output_ >= 0) {
    const auto got = uninterrupted([&] { return read(output_, bytes.data(), bytes.size()); });
    if (got < 0) return;
    if (got == 0) {  // nobody has the other end: a descriptor at its end would never let poll wait
      close(output_);
      output_ = -1;
      return;
    }
    tail_.append(bytes.data(), static_cast<std::size_t>(got));
    if (tail_.size() > tail_bytes) tail_.erase(0, tail_.size() - tail_bytes);
  }
}

const std::string& Worker::tail() {
  read_output();
  return tail_;
}

int Worker::wait_for_death() {
  int status = 0;
  if (pid_ < 0) return status;
  kill(pid_, SIGKILL);  // a child that is already dying keeps the status it dies with
  uninterrupted([&] { return waitpid(pid_, &status, 0); });
  pid_ = -1;
  return status;
}

std::string receive_some(int socket) {
  std::array<char, 1 << 16> bytes;
  const auto got = uninterrupted([&] { return recv(socket, bytes.data(), bytes.size(), 0); });
  return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = uninterrupted([&] { return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace assay
