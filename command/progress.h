#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "conformance/verdict/record.h"

namespace assay::command {

// Shows the progress of a run on standard error: on a terminal a line that is rewritten, elsewhere a line every ten
// seconds.
class Progress {
 public:
  explicit Progress(std::size_t planned);
  ~Progress();

  void add(const verdict::Record& record);
  void looks_into(std::string_view op);  // the run looks for the causes of this operator's failures

  // From now on, also shows what the run waits for, as `waiting` tells it; empty: it waits for nothing long.
  void watch(std::function<std::string()> waiting);
  void end_watch();  // ends the thread that shows this

  std::size_t judged() const { return judged_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  void say(std::string line);
  void show();  // requires the mutex
  void tick(std::stop_token stop);

  std::size_t planned_;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
  std::size_t judged_ = 0, failures_ = 0;
  std::mutex mutex_;  // of line_, waiting_ and shown_
  std::string line_;
  std::function<std::string()> waiting_;
  std::condition_variable_any stopped_;
  std::jthread ticker_;  // the last member, so that it ends first
};

}  // namespace assay::command
