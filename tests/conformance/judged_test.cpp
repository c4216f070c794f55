// Cases that are judged in children, also as trials.

#include "conformance/runner/judged.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iterator>
#include <thread>

#include "conformance/runner/blame.h"
#include "conformance/sandbox/death.h"
#include "reference/fault.h"

namespace assay {
namespace judged_test {

using namespace std::chrono_literals;

bool is_held = false;  // whether a lock is held in the child
int counted = 0;       // number of `k` cases, including those that aborted
int judged = 0;        // number of cases
bool is_spoilt = false;

// Number of children that judged a case; all processes share it.
std::atomic<int>& started =
    *new (mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
        std::atomic<int>(0);

// The first letter of a case's id selects its behaviour: `a` aborts, `l` aborts with a lock held, `w` waits for that
// lock, `k` aborts and is counted, `c` fails if a `k` was counted, `s` crashes in another way, `g` fails with an answer
// that depends on the cases before it, `h` never ends, `f` fails, `x` fails if a `d` was judged, `e` needs too
// much memory, any other letter passes.
runner::Judged judge(std::string_view id, runner::RunMode mode) {
  const bool aborts = id[0] == 'a' || id[0] == 'l' || id[0] == 'k';
  is_held |= id[0] == 'l', counted += id[0] == 'k';
  const int before = judged++;
  started += before == 0;
  is_spoilt |= id[0] == 'd';
  if (aborts && mode.recovers_from_aborts) throw sandbox::Lost{sandbox::TaskResult::End::recovered, SIGABRT, "aborted"};
  if (aborts) std::abort();
  if (id[0] == 'e') throw Fault(Outcome::exhausted, "limits.memory", "there is not enough memory");
  if (id[0] == 'w' && is_held) std::this_thread::sleep_for(1h);
  if (id[0] == 's') std::raise(SIGSEGV);
  for (volatile bool forever = id[0] == 'h'; forever;) {
  }
  runner::Judged j;
  j.record.verdict = verdict::Verdict::pass, j.record.case_id = id;
  if (id[0] == 'g')
    j.record.verdict = verdict::Verdict::fail, j.record.failure = verdict::Class::value,
    j.answer = static_cast<std::uint64_t>(before);
  if (id[0] == 'c' && counted > 0)
    j.record.verdict = verdict::Verdict::fail, j.record.failure = verdict::Class::value, j.answer = 1;
  if (id[0] == 'f' || (id[0] == 'x' && is_spoilt))
    j.record.verdict = verdict::Verdict::fail, j.record.failure = verdict::Class::value, j.answer = 1;
  return j;
}

runner::Judged lose(std::string_view id, const sandbox::TaskResult& death, runner::Detail) {
  runner::Judged j;
  j.record.verdict = sandbox::verdict_on_death(death), j.record.failure = sandbox::class_of_death(death),
  j.record.case_id = id;
  j.spoilt = true;
  return j;
}

runner::JudgingChildren& children() {
  static runner::JudgingChildren all({10s, 100s}, judge, lose);
  return all;
}

TEST(Judged, ACaseThatExhaustsTheMemoryEndsAlone) {
  const std::vector<std::string> ids{"p1", "e1", "p2"};
  const std::vector<runner::Judged> seen = children().run(ids).judged;
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[1].record.verdict, verdict::Verdict::unsupported);
  EXPECT_EQ(seen[1].record.rule, "limits.memory");
  EXPECT_EQ(seen[1].record.message, "not judged: there is not enough memory");
  EXPECT_EQ(seen[2].record.verdict, verdict::Verdict::pass);
}

char letter(const runner::Judged& j) {
  return j.record.failure == verdict::Class::abort ? 'a' : j.record.verdict == verdict::Verdict::pass ? 'p' : '?';
}

const std::vector<std::string> cases{"p1", "a1", "a2", "w1", "p2", "l1", "p3",
                                     "w2", "a3", "w3", "l2", "w4", "a4", "p4"};

std::string tried(runner::Trials& trials, const std::vector<std::string>& ids, std::size_t most = 100) {
  std::string verdicts;
  trials.run_while(ids, children().time_limit(), [&](const runner::Judged& j) {
    EXPECT_EQ(j.record.case_id, ids[verdicts.size()]);
    verdicts += letter(j);
    return verdicts.size() < most;
  });
  return verdicts;
}

TEST(Trials, GiveTheVerdictOfAFreshChild) {
  runner::Trials trials(children(), runner::Detail::outcome);
  for (int times = 0; times < 2; ++times) EXPECT_EQ(tried(trials, cases), "paappappapapap");
}

TEST(Trials, RecoverFromNoAbortAfterOneEndedAChildLater) {
  const auto outlive = [](const std::vector<std::string>& ids) {
    runner::Trials trials(children(), runner::Detail::outcome);
    tried(trials, ids);
    return trials.recovers_from_aborts();
  };
  EXPECT_FALSE(outlive(cases));
  EXPECT_TRUE(outlive({"a1", "w1", "a2", "p1"}));
  EXPECT_TRUE(outlive({"w1", "l1", "p1"}));
  EXPECT_TRUE(outlive({"a1", "s1", "a2", "s2"}));  // a segmentation fault ends every child
}

TEST(Trials, EndAfterTheGivenNumberOfTasks) {
  for (std::size_t most = 1; most <= cases.size(); ++most) {
    runner::Trials trials(children(), runner::Detail::outcome);
    EXPECT_EQ(tried(trials, cases, most).size(), most);
    EXPECT_EQ(tried(trials, {"p1"}), "p");
  }
}

TEST(Trials, TimeBetweenTasksCountsForNoTask) {
  runner::Trials trials(children(), runner::Detail::outcome);
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(tried(trials, {"a1", "p1"}), "ap");
    std::this_thread::sleep_for(300ms);
  }
  EXPECT_TRUE(trials.recovers_from_aborts());
}

// After an abort the block continues, until a case needs a lock that was held at the abort.
TEST(Blocks, GiveTheVerdictsOfFreshChildren) {
  std::string verdicts;
  for (const verdict::Record& r : runner::judge_in_turn(children(), cases)) {
    EXPECT_EQ(r.case_id, cases[verdicts.size()]);
    verdicts += r.failure == verdict::Class::abort ? 'a' : r.verdict == verdict::Verdict::pass ? 'p' : '?';
  }
  EXPECT_EQ(verdicts, "paappappapapap");
}

// `k` aborts and is counted, and `c` reports the count: a state that exists only in its own child.
TEST(Blocks, TheStateThatAnAbortLeavesFailsNoOtherCase) {
  std::string said;
  for (const verdict::Record& r :
       runner::judge_in_turn(children(), std::vector<std::string>{"c1", "k1", "c2", "p1", "k2", "c3"}))
    said += r.failure == verdict::Class::abort    ? 'a'
            : r.verdict == verdict::Verdict::pass ? 'p'
            : r.failure == verdict::Class::value  ? 'v'
                                                  : '?';
  EXPECT_EQ(said, "pappap");
}

// A call whose answer depends on earlier calls, and which also fails alone.
TEST(Blocks, ACaseThatFailsAloneBlamesNoOther) {
  const auto records = runner::judge_in_turn(children(), std::vector<std::string>{"p1", "g1", "p2", "g2"});
  ASSERT_EQ(records.size(), 4u);
  for (const verdict::Record& r : records)
    EXPECT_EQ(r.failure, r.case_id[0] == 'g' ? verdict::Class::value : verdict::Class::none) << r.case_id;
}

// After three cases that do not end, the 16th other case of their kind is judged, and as it does not end, the 31st
// behind it; cases of other kinds all are.
TEST(Blocks, SampleAKindThatHangs) {
  runner::JudgingChildren hasty({100ms, 10s}, judge, lose);
  std::vector<std::string> block;
  for (int i = 0; i < 60; ++i) block.push_back(concat("h#", i));
  block.push_back("p#1");
  int hanging = 0, left_out = 0;
  const std::vector<verdict::Record> records = runner::judge_in_turn(hasty, block);
  ASSERT_EQ(records.size(), block.size());
  for (const verdict::Record& r : records) {
    hanging += r.verdict == verdict::Verdict::timeout;
    left_out += r.verdict == verdict::Verdict::unsupported && r.rule == "run.hangs";
  }
  EXPECT_EQ(records.back().verdict, verdict::Verdict::pass);
  EXPECT_EQ(hanging, 5);
  EXPECT_EQ(left_out, 55);
}

// After hangs have taken more than 60 s, one hang of a kind is enough to leave out the rest, and no sample is judged.
TEST(Blocks, EndSamplesWhenHangsHaveTakenAMinute) {
  runner::Patience patience({20s, 20s});
  for (int i = 0; i < 3; ++i) patience.note_hang(concat("h#", i), 20s);
  patience.note_hang("i#0", 0s);
  EXPECT_TRUE(patience.is_lost("h#3"));
  EXPECT_FALSE(patience.is_lost("i#1"));
  int left_out = 0;
  while (patience.leaves_out("h#3")) ++left_out;
  EXPECT_EQ(left_out, 15);
  patience.note_hang("h#3", 1s);
  EXPECT_TRUE(patience.is_lost("i#1"));
  EXPECT_FALSE(patience.is_lost("j#0"));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(patience.leaves_out("h#4"));
}

// Hangs that several threads wait for at once count once.
TEST(Blocks, CountHangsOfSeveralThreadsOnce) {
  runner::Patience patience({20s, 20s});
  patience.note_begin("h#0");
  std::thread other([&] { patience.note_begin("h#1"); });
  other.join();
  patience.note_hang("h#0", 100s);  // 50 s for each of two threads
  EXPECT_FALSE(patience.is_lost("h#2"));
}

std::vector<std::string> many(char letter, int count) {
  std::vector<std::string> ids;
  for (int i = 0; i < count; ++i) ids.push_back(concat(letter, i));
  return ids;
}

TEST(Blocks, ConfirmSomeOfManyFailures) {
  started = 0;
  for (const verdict::Record& r : runner::judge_in_turn(children(), many('f', 48), runner::Confirm::some))
    EXPECT_EQ(r.failure, verdict::Class::value) << r.case_id;
  EXPECT_EQ(started, 1 + 5);  // failures 0, 1, 16, 32 and the last run again
}

// `d` makes the cases after it fail. Whichever failures run again, `d` is blamed, and no other case.
TEST(Blocks, BlameTheSameCaseIfSomeFailuresAreConfirmed) {
  for (const int failures : {0, 1, 3, 20}) {
    std::vector<std::string> block = many('f', failures);
    block.push_back("d");
    std::ranges::move(many('x', 20), std::back_inserter(block));
    for (const runner::Confirm confirm : {runner::Confirm::all, runner::Confirm::some})
      for (const verdict::Record& r : runner::judge_in_turn(children(), block, confirm))
        EXPECT_EQ(r.failure, r.case_id[0] == 'f'   ? verdict::Class::value
                             : r.case_id[0] == 'd' ? verdict::Class::spoils_state
                                                   : verdict::Class::none)
            << r.case_id;
  }
}

}  // namespace judged_test
}  // namespace assay
