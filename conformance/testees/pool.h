#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

class Worker;

// How a task ended. Only after `done` and `threw` does the child live on.
struct TaskResult {
  enum class End : std::uint8_t {
    done,       // text is what the work returned
    threw,      // the work threw: an error of the host, not of what it tests; text is the exception's message
    crashed,    // a signal ended the child
    exited,     // the child ended by itself
    timed_out,  // the deadline passed and the child was killed
    garbled,    // the child sent something that is no answer and was killed
  };
  End end = End::done;
  std::string text;  // of a child that died: one sentence, and on further lines the last of what it wrote
};

// Children that work on tasks which may take a process down. A child that dies or takes too long costs the task it was
// at; it is replaced and the run goes on. Nothing that children write to stdout or stderr appears. The caller has no
// threads. Children die with the pool and with the process that made it, and leave an interrupt to it.
class Pool {
 public:
  using Work = std::function<std::string(std::string_view task)>;
  using Next = std::function<std::optional<std::string>()>;  // the next task; asked again after every result
  using Done = std::function<void(std::string_view task, const TaskResult& result)>;

  // Forks `workers` children, each of which runs `work`; `timeout` is for one task. Throws std::system_error.
  Pool(int workers, std::chrono::milliseconds timeout, Work work);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Gives out tasks until there are none left, and reports each once, in any order. Throws std::system_error, and what
  // `next` and `done` throw; no further run is possible then.
  void run(const Next& next, const Done& done);

 private:
  std::unique_ptr<Worker> hired();
  void fill(Worker& worker, const Next& next);
  void serve(std::unique_ptr<Worker>& worker, const Done& done);
  bool take_answers(Worker& worker, const Done& done);
  void bury(std::unique_ptr<Worker>& worker, std::optional<TaskResult> killed, const Done& done);
  void wait() const;

  std::chrono::milliseconds timeout_;
  Work work_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<std::string> returned_;  // were queued behind a task that took its child down
};

}  // namespace assay
