#pragma once

#include <chrono>
#include <string>

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

  std::size_t judged() const { return judged_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& line);

  std::size_t planned_;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
  std::size_t judged_ = 0, failures_ = 0;
};

}  // namespace assay::command
