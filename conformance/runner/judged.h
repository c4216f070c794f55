#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/record.h"
#include "conformance/testees/child.h"
#include "conformance/testees/nursery.h"

namespace assay {

// A verdict, and what it takes to compare it with another on the same case.
struct Judged {
  Record record;
  std::uint64_t answer = 0;  // a digest of all that the testee did, apart from values that are free and from times
  bool spoilt = false;       // the process must do no other case
};

// How much a record tells.
enum class Detail : std::uint8_t {
  trial,     // as `outcome`, and the child outlives what it can
  outcome,   // verdict, class, rule and message alone, of a case of which the caller knows that it is promised
  failures,  // also what can be said of the case, and of one that does not pass what it is (inputs, outs, expected,
             // got)
  all,       // that of any case
};

// Cases, known by their ids, that are judged in children which they may take down. May be used by many threads.
class JudgingChildren {
 public:
  using Judge = std::function<Judged(std::string_view id, Detail detail)>;
  using Lose = std::function<Judged(std::string_view id, const TaskResult& death, Detail detail)>;

  // `judge` is called in a child; where that did not survive it, `lose` here. Made before there are threads, for so
  // many processors.
  JudgingChildren(const Patience& patience, Judge judge, Lose lose, int processors = 1);

  const Patience& patience() const { return patience_; }

  // Judges the cases one after the other in a fresh child. What is judged ends behind the first that leaves no child to
  // go on with: one that took it down, or damaged it. Of one that took it down and was not its first the record has the
  // outcome alone. Throws Interrupted, and Fault where `judge` threw.
  std::vector<Judged> run(std::span<const std::string> ids);

  // The same of all of them, in as many children as it takes, as long as `goes_on` says so of what was judged. Behind a
  // case that it outlived a child's end says nothing of the case that it ends with, which is judged in another: false
  // if that was so, and then the rest were no trials either.
  bool run_while(std::span<const std::string> ids, Detail detail, const Patience& patience,
                 const std::function<bool(Judged)>& goes_on);

  // Judges one case in a fresh child.
  Judged run_alone(const std::string& id, Detail detail = Detail::failures);

 private:
  // As long as `goes_on` says so and there is a child.
  struct Run {
    std::size_t judged = 0;
    bool is_lost = false;  // the child ended behind a case that it outlived
  };
  Run run(std::span<const std::string> ids, Detail detail, const Patience& patience,
          const std::function<bool(Judged)>& goes_on);
  Judged judged(const std::string& id, const TaskResult& result, Detail detail) const;

  Patience patience_;
  Lose lose_;
  Nursery nursery_;
};

}  // namespace assay
