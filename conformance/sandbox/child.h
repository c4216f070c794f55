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

namespace assay {

// How a task ended. Only after `done`, `threw` and `outlived` does the child live on.
struct TaskResult {
  enum class End : std::uint8_t {
    done,       // text is what the work returned
    last,       // the same, and the child must do no other task
    threw,      // the work threw: an error of the host, not of what it tests
    crashed,    // a signal ended the child
    exited,     // the child ended by itself
    timed_out,  // its time was over and the child was killed
    garbled,    // the child sent something that is no answer and was killed
    outlived,   // what would have crashed the child did not: it goes on, with what that left behind
  };
  End end = End::done;
  std::string text;            // of a child that died or outlived it: one sentence
  int signal = 0;              // which crashed it, or would have
  std::string output;          // the last of what such a child wrote to stdout and stderr
  std::optional<Fault> fault;  // that the work threw; exhausted, of `testee`, where it threw something else
};

// How a process ended that left this status to wait().
TaskResult death_of(int status);

// What work throws whose answers come from somewhere else, which is lost, or that outlived a signal: that is how the
// task ended, too.
struct Lost {
  TaskResult::End end;
  int signal;
  std::string text;
};

// How long a caller waits for a task: so much time of the child's processor, so much time of the wall. Both are checked
// now and then, and so is whether it still waits at all.
struct TimeLimit {
  std::chrono::milliseconds processor, wall;
  const std::atomic<bool>* interrupted = nullptr;
};

// The patience of a caller who allows so much time of the processor and, as a child may have to wait for one, ten times
// as much of the wall; just as much where another computes, whose processor time nobody sees.
TimeLimit time_limit_of(std::chrono::milliseconds time, bool is_remote, const std::atomic<bool>* interrupted = nullptr);

// What a caller throws who is interrupted.
struct Interrupted {};

// A child of a nursery, as its parent sees it. Throws std::system_error.
class Child {
 public:
  Child(ForkServer& fork_server, const TimeLimit& time_limit);
  ~Child();  // kills it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void give(std::string_view task);  // to be done after those that it has
  TaskResult next();                 // waits for the result of the next task. Throws Interrupted
  void wait_with(const TimeLimit& time_limit) { time_limit_ = time_limit; }  // from now on

  bool lives() const { return pid_ >= 0; }
  // Whether it has outlived a task, so that how it ends says nothing of the task that it ends with.
  bool has_recovered() const { return has_recovered_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<TaskResult> answered();
  std::optional<TaskResult> lost();  // over its time, or stuck
  void begin();                      // to measure the time of the next task
  TaskResult outlived(std::string sentence, int signal);
  TaskResult death(TaskResult::End killed, std::string sentence, int signal = 0);
  bool exchange();  // sends and receives what there is; false when the child has closed its end
  void read_output();
  std::chrono::nanoseconds processor_time() const;

  TimeLimit time_limit_;
  pid_t pid_ = -1;
  int socket_ = -1, output_ = -1;
  std::string unsent_;
  std::size_t due_ = 0;  // tasks without a result
  FrameReader frames_;
  std::string tail_;  // of what it wrote since it last outlived a task
  bool has_recovered_ = false, is_asleep_ = false;
  Clock::time_point since_ = Clock::now();  // the last answer, or task behind a rest
  std::chrono::nanoseconds used_{0};        // processor time, until then
};

// In a child: does tasks until nobody gives any.
void work_until_closed(int socket, const std::function<Work(std::string_view)>& work);

// f() again as long as a signal interrupts it.
template <class F>
auto uninterrupted(F f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

}  // namespace assay
