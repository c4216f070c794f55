#pragma once

#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/sandbox/fork_server.h"
#include "conformance/sandbox/frames.h"
#include "reference/fault.h"

namespace assay::sandbox {

// How a task ended. The child is still alive after `done`, `threw` and `recovered` only.
struct TaskResult {
  enum class End : std::uint8_t {
    done,       // text is what the work returned
    last,       // as `done`, but the child must not get another task
    threw,      // the work threw: an error of assay, not of the testee
    crashed,    // a signal ended the child
    exited,     // the child called exit()
    timed_out,  // the time limit was exceeded and the child was killed
    garbled,    // the child sent bytes that form no answer, and was killed
    recovered,  // the child recovered from a fatal signal and continues, with the memory and locks left as they were
  };
  End end = End::done;
  std::string text;            // if the child died or recovered: one sentence about it
  int signal = 0;              // the fatal signal, or 0
  std::string output;          // if the child died or recovered: the end of its stdout and stderr
  std::optional<Fault> fault;  // the fault that the work threw; any other exception becomes an exhausted fault `testee`
};

// How a process ended, from its wait() status.
TaskResult death_of(int status);

// Thrown by work when the remote server died or when a call aborted and the process recovered. It carries how the task
// ended.
struct Lost {
  TaskResult::End end;
  int signal;
  std::string text;
};

// How long a caller waits for a task: a limit on the child's processor time and a limit on wall time. Both limits and
// `interrupted` are checked periodically.
struct TimeLimit {
  std::chrono::milliseconds processor, wall;
  const std::atomic<bool>* interrupted = nullptr;
};

// The limits for `time` of processor time. The wall limit is ten times as long, because a child may wait for a
// processor. For a remote testee, whose processor time is unknown, the wall limit is `time` itself.
TimeLimit time_limit_of(std::chrono::milliseconds time, bool is_remote, const std::atomic<bool>* interrupted = nullptr);

// Thrown in the caller when `interrupted` is set.
struct Interrupted {};

// A worker: a child that a fork server made, as its parent sees it. Throws std::system_error.
class Child {
 public:
  Child(ForkServer& fork_server, const TimeLimit& time_limit);
  ~Child();  // kills the child
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void give(std::string_view task);  // queues a task
  TaskResult next();                 // waits for the result of the oldest task. Throws Interrupted
  void wait_with(const TimeLimit& time_limit) { time_limit_ = time_limit; }  // sets the time limit of later waits

  bool lives() const { return pid_ >= 0; }
  // True after the child recovered from a signal. Its death then tells nothing about the task that it dies with.
  bool has_recovered() const { return has_recovered_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<TaskResult> answered();
  std::optional<TaskResult> lost();  // the result if the time limit is exceeded or the child is stuck
  void begin();                      // starts to measure the time of the next task
  bool is_about_clock(const Frame& frame);
  TaskResult recovered(std::string sentence, int signal);
  TaskResult death(TaskResult::End killed, std::string sentence, int signal = 0);
  bool exchange();  // sends and receives pending bytes; false when the child has closed its socket
  void read_output();
  std::chrono::nanoseconds processor_time() const;

  TimeLimit time_limit_;
  pid_t pid_ = -1;
  int socket_ = -1, output_ = -1;
  std::string unsent_;
  std::size_t due_ = 0;  // the number of tasks without a result
  FrameReader frames_;
  std::string tail_;  // the end of the output since the child last recovered
  bool has_recovered_ = false, is_asleep_ = false, clock_stands_ = false;
  Clock::time_point since_ = Clock::now();  // the last answer, or the first task after an idle time
  std::chrono::nanoseconds used_{0};        // the child's processor time at `since_`
};

// During its lifetime in a child, the time of the current task stands still: a child that prepares a task at length
// makes no testee late. Outside of a task it does nothing.
class StoppedClock {
 public:
  StoppedClock();
  ~StoppedClock();
  StoppedClock(const StoppedClock&) = delete;
  StoppedClock& operator=(const StoppedClock&) = delete;
};

// Runs in a child: does tasks until the parent closes the socket.
void work_until_closed(int socket, const std::function<Work(std::string_view)>& work);

// Repeats f() while a signal interrupts it.
template <class F>
auto uninterrupted(F f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

}  // namespace assay::sandbox
