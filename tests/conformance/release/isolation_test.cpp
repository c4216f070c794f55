// The verdicts blame the same cases in any order of the calls.

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "conformance/judge/judge.h"
#include "conformance/runner/suite.h"
#include "conformance/sandbox/heap.h"
#include "tests/support/corpus.h"
#include "tests/support/faulty_library.h"

namespace assay {
namespace isolation_test {

using namespace std::chrono_literals;
using testing::HasSubstr;

const sandbox::TimeLimit time_limit{200ms, 60s};

std::string operators() {
  std::string all;
  for (const auto& [name, effect] : FaultyLibrary::effects())
    if (sandbox::heap::is_watched || !effect.needs_no_sanitizer) all += (all.empty() ? "" : ",") + name;
  return all;
}

// With a sanitizer, a fork is slow.
constexpr std::size_t most_cases = sandbox::heap::is_watched ? 128 : 64;

// For each operator, the block with the smallest id, or its first cases. `shuffle` selects the order.
std::vector<runner::Block> blocks(std::optional<std::uint64_t> shuffle) {
  runner::SuiteOptions options;
  options.operators = operators(), options.shuffle = shuffle;
  std::map<std::string, std::pair<std::string, runner::Block>> least;
  for (const runner::Block& block : runner::plan_blocks(corpus(), options, true)) {
    const std::string first = cases::to_text(std::ranges::min(block, {}, &cases::CaseId::call));
    const auto [at, is_new] = least.try_emplace(block[0].operator_name, first, block);
    if (!is_new && first < at->second.first) at->second = {first, block};
  }
  std::vector<runner::Block> all;
  for (auto& [name, block] : least) {
    all.push_back(std::move(block.second));
    all.back().resize(std::min(all.back().size(), most_cases));
  }
  return all;
}

std::vector<verdict::Record> judged(int workers, std::optional<std::uint64_t> shuffle = {}) {
  FaultyLibrary library;
  const contract::Contract everything;
  runner::CaseRunner case_runner(corpus(), library, everything, time_limit);
  std::vector<verdict::Record> all;
  runner::judge_blocks(case_runner, blocks(shuffle), workers, [&](verdict::Record r) { all.push_back(std::move(r)); });
  return all;
}

// The class that the case must be blamed with; none if it must pass.
std::string blame(const verdict::Record& r) {
  const cases::Case c = corpus().make(cases::case_id_from(r.case_id));
  const FaultyLibrary::Effect& effect = FaultyLibrary::effects().at(r.operator_name);
  const judge::Expectation expected = judge::expect(*c.op, c.arguments);
  const bool answered = expected.answer.outcome == Outcome::ok && !expected.outs[0].bytes.empty();
  if (!answered || !FaultyLibrary::is_wrong(effect, std::get<Tensor>(c.arguments[0]).bytes)) return "innocent";
  return effect.blamed == verdict::Class::none ? "timeout" : std::string(verdict::name(effect.blamed));
}

std::string verdict(const verdict::Record& r) {
  if (!verdict::is_failure(r.verdict)) return "innocent";
  return r.failure == verdict::Class::none ? std::string(verdict::name(r.verdict))
                                           : std::string(verdict::name(r.failure));
}

void expect_right_blame(const std::vector<verdict::Record>& records) {
  std::map<std::string, int> blamed;
  for (const verdict::Record& r : records) {
    if (r.rule == "run.hangs") {  // several cases of this operator hang, so that only a sample of the rest is judged
      EXPECT_EQ(FaultyLibrary::effects().at(r.operator_name).blamed, verdict::Class::none) << r.case_id;
      EXPECT_GE(blamed["timeout"], 3) << r.case_id;
      continue;
    }
    EXPECT_EQ(verdict(r), blame(r)) << r.case_id << ": " << r.message;
    ++blamed[verdict(r)];
  }
  for (const auto& [name, effect] : FaultyLibrary::effects()) {
    if (effect.needs_no_sanitizer && !sandbox::heap::is_watched) continue;
    EXPECT_GT(blamed[effect.blamed == verdict::Class::none ? "timeout" : std::string(verdict::name(effect.blamed))], 0)
        << name;
  }
}

const std::vector<verdict::Record>& records() {
  static const std::vector<verdict::Record> all = judged(2);
  return all;
}

TEST(Isolation, AttributesEachFailureToItsCall) { expect_right_blame(records()); }

// ASSAY_SHUFFLES is the number of orders. Each order takes seconds of processor time.
TEST(Isolation, AttributesFailuresInEveryOrder) {
  const char* asked = std::getenv("ASSAY_SHUFFLES");
  for (int shuffle = 1; shuffle <= (asked ? std::atoi(asked) : sandbox::heap::is_watched ? 10 : 1); ++shuffle) {
    SCOPED_TRACE(shuffle);
    expect_right_blame(judged(2, static_cast<std::uint64_t>(shuffle)));
  }
}

TEST(Isolation, AnyNumberOfWorkersGivesTheSameRecords) {
  const auto lines = [](std::vector<verdict::Record> records) {
    std::string all;
    for (verdict::Record& r : records) r.seconds = 0, all += verdict::to_json_line(r) + "\n";
    return all;
  };
  const std::string two = lines(records());
  EXPECT_TRUE(two == lines(judged(1)));
  EXPECT_TRUE(two == lines(judged(7)));
}

const verdict::Record& first_of(const std::vector<verdict::Record>& records, verdict::Class failure) {
  return *std::ranges::find(records, failure, &verdict::Record::failure);
}

TEST(Isolation, RecordsTellHowACallEnded) {
  const verdict::Record& behind = first_of(records(), verdict::Class::writes_out_of_bounds);
  EXPECT_THAT(behind.message, HasSubstr("1 byte behind out is overwritten, the nearest 0 bytes from its end, with "));
  EXPECT_NE(behind.got, "");
  ASSERT_EQ(behind.outs.size(), 1u);
  EXPECT_EQ(behind.outs[0].name, "out");
  const verdict::Record& spoils = first_of(records(), verdict::Class::spoils_state);
  EXPECT_THAT(spoils.message, HasSubstr("after this call aten::neg.out#"));
  const verdict::Record& twice = first_of(records(), verdict::Class::not_repeatable);
  EXPECT_EQ(twice.got, "");
  EXPECT_EQ(twice.distance, std::nullopt);
  const verdict::Record& hangs = *std::ranges::find(records(), verdict::Verdict::timeout, &verdict::Record::verdict);
  EXPECT_EQ(hangs.message, "took more than 200 ms of processor time");
}

TEST(Plan, ACaseIsInOneBlockAndShufflingChangesTheOrderOnly) {
  runner::SuiteOptions options;
  options.operators = "abs,add", options.mutations = 50;
  const auto ids = [](const std::vector<runner::Block>& blocks) {
    std::vector<std::set<std::string>> all;
    for (const runner::Block& block : blocks) {
      all.emplace_back();
      for (const cases::CaseId& id : block)
        EXPECT_TRUE(all.back().insert(cases::to_text(id)).second) << cases::to_text(id);
    }
    return all;
  };
  const std::vector<runner::Block> blocks = runner::plan_blocks(corpus(), options, false);
  options.shuffle = 5, options.workers = 3;
  const std::vector<runner::Block> shuffled = runner::plan_blocks(corpus(), options, false);
  EXPECT_NE(blocks, shuffled);
  EXPECT_THAT(ids(shuffled), testing::UnorderedElementsAreArray(ids(blocks)));
  EXPECT_EQ(runner::plan_blocks(corpus(), options, false), shuffled);
}

TEST(Suite, AnInterruptEndsIt) {
  std::atomic<bool> interrupted = false;
  FaultyLibrary library;
  const contract::Contract everything;
  runner::CaseRunner children(corpus(), library, everything, {60s, 600s, &interrupted});
  runner::SuiteOptions options;
  options.operators = "aten::abs.out,aten::sigmoid.out";
  std::size_t judged = 0;
  const auto stop = [&](const verdict::Record&) { interrupted = ++judged >= 10; };
  EXPECT_THROW(runner::judge_blocks(children, runner::plan_blocks(corpus(), options, true), 2, stop),
               sandbox::Interrupted);
  EXPECT_LT(judged, 1000u);
}

}  // namespace isolation_test
}  // namespace assay
