#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "conformance/sandbox/child.h"

namespace assay::runner {

// How long a run waits for cases, given those that ended and those that did not. Thread-safe.
class Patience {
 public:
  explicit Patience(const sandbox::TimeLimit& full) : full_(full) {}

  const sandbox::TimeLimit& full() const { return full_; }

  void note_begin(const std::string& id);                              // this thread waits for a case
  void note_end(std::chrono::nanoseconds time);                        // a case ended after `time`
  void note_hang(std::string_view id, std::chrono::nanoseconds time);  // a case was ended by its limit after `time`

  // The limit of a case: the full one until a few cases hang, then the short one.
  sandbox::TimeLimit limit() const;

  // Many times what the slowest case took that ended, within the full limit: for a case that is expected to hang.
  sandbox::TimeLimit short_limit() const;

  // Whether so many cases of this case's kind hang that only some of the others are judged. The kind is the id up to
  // its first '#' or '/': an operator, or a kind of scenario. One case suffices once hangs have taken much time.
  bool is_lost(std::string_view id) const;

  // Whether the next case of such a kind is left out. The number of cases that are left out between two that are judged
  // doubles with each of these that hangs, too. Once hangs have taken much time, each case is left out.
  bool leaves_out(std::string_view id);

  // The case that a thread has been waiting for longest, and for how long: "aten::relu.out#37014ec5 (14 s)". Empty if
  // no thread waits for more than a few seconds.
  std::string waits_for() const;

 private:
  sandbox::TimeLimit short_limit_locked() const;
  bool is_spent() const;  // whether hangs have taken much time

  const sandbox::TimeLimit full_;
  mutable std::mutex mutex_;
  std::chrono::nanoseconds slowest_{0};
  std::chrono::nanoseconds taken_{0};  // the time that hangs took; hangs that threads waited for at once share it
  std::map<std::string, std::set<std::string>, std::less<>> of_kinds_;  // cases that hang, by kind
  std::map<std::string, std::size_t, std::less<>> left_out_;            // cases since the last that was judged, by kind
  struct Wait {
    std::string id;
    std::chrono::steady_clock::time_point since;
  };
  std::map<std::thread::id, Wait> waits_;
};

}  // namespace assay::runner
