#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace assay {

// What a task gave, and whether the child that did it must do no other.
struct Work {
  std::string text;
  bool last = false;
};

// A process that is forked once and does nothing but fork children when it is asked to, so that they all begin with
// the same memory, whatever the caller has done meanwhile. Children are the caller's, work on tasks which may take them
// down, and die with it; nothing that they write to stdout or stderr appears. A caller may have threads.
class Nursery {
 public:
  // Made before there are threads. Throws std::system_error, as bear() does.
  explicit Nursery(std::function<Work(std::string_view task)> work);
  ~Nursery();
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;

  // A child that reads tasks from the socket and writes answers to it, as frames, and writes what it says to `output`.
  // Both are the caller's to close.
  pid_t bear(int socket, int output);

 private:
  [[noreturn]] void serve(int requests) const;

  std::function<Work(std::string_view)> work_;
  std::mutex mutex_;
  pid_t parent_, pid_ = -1;
  int requests_ = -1;
};

}  // namespace assay
