#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox {

// The result of a task. `last`: the child must not get another task.
struct Work {
  std::string text;
  bool last = false;
};

// Forks workers on request. The fork server is itself forked once, before the caller changes its memory, so that all
// workers begin with the same memory. It has several copies: at most `copies` workers are forked concurrently, for
// callers with threads. A worker is a child of the caller's process (its subreaper), does tasks that may crash it, and
// dies with the caller. Its stdout and stderr are captured.
class ForkServer {
 public:
  // Construct it before the process has threads. Throws std::system_error, as fork_child() does.
  explicit ForkServer(std::function<Work(std::string_view task)> work, int copies = 1);
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // Forks a worker that reads tasks from sockets[1] and writes answers to it, as frames, and whose stdout and stderr go
  // to `output`. Closes sockets[1] and `output` in this process.
  pid_t fork_child(const std::array<int, 2>& sockets, int output);

 private:
  [[noreturn]] void serve(int requests) const;

  std::function<Work(std::string_view)> work_;
  pid_t parent_;
  std::vector<pid_t> copies_;
  int requests_ = -1;
};

// Whether this process is a worker of a fork server.
bool is_worker();

}  // namespace assay::sandbox
