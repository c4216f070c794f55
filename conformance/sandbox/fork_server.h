#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// What a task gave, and whether the child that did it must do no other.
struct Work {
  std::string text;
  bool last = false;
};

// Processes that are forked once, as copies of one another, and do nothing but fork children when they are asked to, so
// that these all begin with the same memory, whichever bears them and whatever the caller has done meanwhile. Children
// are the caller's, work on tasks which may take them down, and die with it; nothing that they write to stdout or
// stderr appears. A caller may have threads, for as many of which as there are copies children are born at a time.
class ForkServer {
 public:
  // Made before there are threads. Throws std::system_error, as bear() does.
  explicit ForkServer(std::function<Work(std::string_view task)> work, int copies = 1);
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // A child that reads tasks from the second of the connected sockets and writes answers to it, as frames, and writes
  // what it says to `output`. Both are closed here.
  pid_t fork_child(const std::array<int, 2>& sockets, int output);

 private:
  [[noreturn]] void serve(int requests) const;

  std::function<Work(std::string_view)> work_;
  pid_t parent_;
  std::vector<pid_t> copies_;
  int requests_ = -1;
};

}  // namespace assay
