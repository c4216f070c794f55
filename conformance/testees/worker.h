#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/testees/frames.h"

namespace assay {

// A forked child of a pool, as its parent sees it: tasks go in, frames come out. Nothing here blocks.
class Worker {
 public:
  using Clock = std::chrono::steady_clock;

  // Forks; the child runs `child` with its end of the socket and never returns from it. `inherited` are descriptors of
  // other workers, which the child closes. Throws std::system_error.
  Worker(const std::function<void(int socket)>& child, const std::vector<int>& inherited);
  ~Worker();  // kills the child
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void push(std::string task);
  std::string pop();  // the task at the head of the queue, which has been answered
  const std::deque<std::string>& tasks() const { return tasks_; }  // the first is being worked on, the others wait
  Clock::time_point since() const { return since_; }               // when work on the first began
  Clock::duration pace() const { return pace_; }                   // how long the last answered task took

  void send();     // what the socket takes of the pushed tasks
  bool receive();  // appends what has arrived to frames(); false when the child has closed its end
  FrameReader& frames() { return frames_; }
  int wait_for_death();       // kills the child unless it is dead already; its status as waitpid gives it
  const std::string& tail();  // the last bytes that the child wrote to stdout and stderr

  int socket() const { return socket_; }
  int output() const { return output_; }
  bool unsent() const { return !unsent_.empty(); }
  void read_output();

 private:
  int socket_ = -1;
  int output_ = -1;
  pid_t pid_ = -1;
  std::deque<std::string> tasks_;
  Clock::time_point since_;
  Clock::duration pace_ = Clock::duration::max();
  std::string unsent_;
  FrameReader frames_;
  std::string tail_;
};

// In a child: the next bytes of a blocking socket, empty at its end; and everything of a text, false when nobody reads.
std::string receive_some(int socket);
bool send_all(int socket, std::string_view bytes);

}  // namespace assay
