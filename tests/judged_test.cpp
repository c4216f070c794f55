// Cases that are judged in children, as trials, too.

#include "conformance/runner/judged.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "conformance/testees/death.h"

namespace assay {
namespace {

using namespace std::chrono_literals;

bool is_held = false;  // a lock, in a child

// Cases by the first letter of their ids: `a` aborts, `l` aborts with a lock held, `w` waits for it, others pass.
Judged judge(std::string_view id, Detail detail) {
  const bool aborts = id[0] == 'a' || id[0] == 'l';
  is_held |= id[0] == 'l';
  if (aborts && detail == Detail::trial) throw Lost{TaskResult::End::outlived, SIGABRT, "aborted"};
  if (aborts) std::abort();
  if (id[0] == 'w' && is_held) std::this_thread::sleep_for(1h);
  Judged j;
  j.record.verdict = Verdict::pass, j.record.case_id = id;
  return j;
}

Judged lose(std::string_view id, const TaskResult& death, Detail) {
  Judged j;
  j.record.verdict = verdict_on_death(death), j.record.failure = class_of_death(death), j.record.case_id = id;
  j.spoilt = true;
  return j;
}

struct Seen {
  std::string verdicts;  // a letter each
  bool all_outlived = true;
};

Seen run(const std::vector<std::string>& ids, Detail detail, std::size_t most = 100) {
  static JudgingChildren children({10s, 100s}, judge, lose);
  Seen seen;
  seen.all_outlived = children.run_while(ids, detail, children.patience(), [&](const Judged& j) {
    EXPECT_EQ(j.record.case_id, ids[seen.verdicts.size()]);
    seen.verdicts += j.record.failure == Class::abort ? 'a' : j.record.verdict == Verdict::pass ? 'p' : '?';
    return seen.verdicts.size() < most;
  });
  return seen;
}

const std::vector<std::string> cases{"p1", "a1", "a2", "w1", "p2", "l1", "p3",
                                     "w2", "a3", "w3", "l2", "w4", "a4", "p4"};

TEST(Judged, ATrialSaysWhatAFreshChildSays) {
  for (const Detail detail : {Detail::outcome, Detail::trial}) EXPECT_EQ(run(cases, detail).verdicts, "paappappapapap");
}

TEST(Judged, SaysWhetherALaterCaseEndedAChildThatHadOutlivedOne) {
  EXPECT_FALSE(run(cases, Detail::trial).all_outlived);
  EXPECT_TRUE(run(cases, Detail::outcome).all_outlived);
  EXPECT_TRUE(run({"a1", "w1", "a2", "p1"}, Detail::trial).all_outlived);
  EXPECT_TRUE(run({"w1", "l1", "p1"}, Detail::trial).all_outlived);
}

TEST(Judged, EndsWhenItIsToldTo) {
  for (std::size_t most = 1; most <= cases.size(); ++most)
    EXPECT_EQ(run(cases, Detail::trial, most).verdicts.size(), most);
}

}  // namespace
}  // namespace assay
