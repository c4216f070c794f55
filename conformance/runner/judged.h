#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/sandbox/child.h"
#include "conformance/sandbox/fork_server.h"
#include "conformance/verdict/record.h"

namespace assay {

// A verdict, and what it takes to compare it with another on the same case.
struct Judged {
  Record record;
  std::uint64_t answer = 0;  // a digest of all that the testee did, but for free values, words of refusals and times
  bool spoilt = false;       // the process must do no other case
};

// How much a record tells.
enum class Detail : std::uint8_t {
  outcome,   // verdict, class, rule and message alone, of a case of which the caller knows that it is promised
  facts,     // also what can be said of the case, and of one that neither passes nor fails what it is (inputs, outs,
             // expected, got)
  failures,  // of one that fails, too
  all,       // that of any case
};

// How a case is judged.
struct RunMode {
  Detail detail = Detail::failures;
  bool recovers_from_aborts = false;  // the child goes on, with what the call left behind
};

// Cases, known by their ids, that are judged in children which they may take down. May be used by many threads.
class JudgingChildren {
 public:
  using Judge = std::function<Judged(std::string_view id, RunMode mode)>;
  using Lose = std::function<Judged(std::string_view id, const TaskResult& death, Detail detail)>;

  // `judge` is called in a child; where that did not survive it, `lose` here. Made before there are threads, for so
  // many processors.
  JudgingChildren(const TimeLimit& time_limit, Judge judge, Lose lose, int processors = 1);

  const TimeLimit& time_limit() const { return time_limit_; }

  // What was judged of some cases. It ends behind the first that leaves no child to go on with: one that took it down,
  // or damaged it. Behind a case that it outlived, a child's end says nothing of the case that it ends with.
  struct Run {
    std::vector<Judged> judged;
    bool is_lost = false;  // the child ended so, with a case that is not judged
  };

  // Judges the cases one after the other in a fresh child, by the facts; of one that took it down the record has the
  // outcome alone. Throws Interrupted, and Fault where `judge` threw.
  Run run(std::span<const std::string> ids, bool recovers_from_aborts = false);

  // Judges one case in a fresh child.
  Judged run_alone(const std::string& id, Detail detail = Detail::failures);

 private:
  friend class Trials;

  struct RunPart {
    std::size_t judged = 0;
    bool is_lost = false;
    bool is_over = false;  // the child is to judge no other
  };
  // As long as `goes_on` says so and there is a child.
  RunPart run(Child& child, std::span<const std::string> ids, RunMode mode, const std::function<bool(Judged)>& goes_on);
  Judged judged(const std::string& id, const TaskResult& result, Detail detail) const;

  TimeLimit time_limit_;
  Lose lose_;
  ForkServer fork_server_;
};

// Lists of cases of one operator that are judged in one child as long as it lasts. Aborts are outlived until that turns
// out to end a child later.
class Trials {
 public:
  // The children outlive it.
  Trials(JudgingChildren& children, Detail detail) : children_(children), detail_(detail) {}

  // All of a list, as long as `goes_on` says so of what was judged. Throws as JudgingChildren does.
  void run_while(std::span<const std::string> ids, const TimeLimit& time_limit,
                 const std::function<bool(Judged)>& goes_on);
  bool recovers_from_aborts() const { return recovers_from_aborts_; }

 private:
  JudgingChildren& children_;
  Detail detail_;
  std::optional<Child> child_;
  bool recovers_from_aborts_ = true;
};

}  // namespace assay
