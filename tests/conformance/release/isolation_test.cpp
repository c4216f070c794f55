// The verdicts blame the same cases in any order of the calls.

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "conformance/judge/judge.h"
#include "conformance/runner/suite.h"
#include "conformance/sandbox/heap.h"
#include "tests/support/faulty_library.h"

namespace assay {
namespace isolation_test {

using namespace std::chrono_literals;
using testing::HasSubstr;

const Corpus& corpus() {
  static const Corpus recorded(ASSAY_GOLDEN);
  return recorded;
}

const TimeLimit time_limit{200ms, 60s};

CaseRunner& case_runner() {
  static FaultyLibrary library;
  static const Contract everything;
  static CaseRunner children(corpus(), library, everything, time_limit);
  return children;
}

std::string operators() {
  std::string all;
  for (const auto& [name, effect] : FaultyLibrary::effects())
    if (heap::is_watched || !effect.needs_no_sanitizer) all += (all.empty() ? "" : ",") + name;
  return all;
}

// With a sanitizer, a fork is slow.
constexpr std::size_t most_cases = heap::is_watched ? 128 : 64;

// For each operator, the block with the smallest id, or its first cases. `shuffle` selects the order.
std::vector<Block> blocks(std::optional<std::uint64_t> shuffle) {
  SuiteOptions options;
  options.operators = operators(), options.shuffle = shuffle;
  std::map<std::string, std::pair<std::string, Block>> least;
  for (const Block& block : plan_blocks(corpus(), options, true)) {
    const std::string first = to_text(std::ranges::min(block, {}, &CaseId::call));
    const auto [at, is_new] = least.try_emplace(block[0].operator_name, first, block);
    if (!is_new && first < at->second.first) at->second = {first, block};
  }
  std::vector<Block> all;
  for (auto& [name, block] : least) {
    all.push_back(std::move(block.second));
    all.back().resize(std::min(all.back().size(), most_cases));
  }
  return all;
}

std::vector<Record> judged(int workers, std::optional<std::uint64_t> shuffle = {}) {
  std::vector<Record> all;
  judge_blocks(case_runner(), blocks(shuffle), workers, [&](Record r) { all.push_back(std::move(r)); });
  return all;
}

// The class that the case must be blamed with; none if it must pass.
std::string blame(const Record& r) {
  const Case c = corpus().make(case_id_from(r.case_id));
  const FaultyLibrary::Effect& effect = FaultyLibrary::effects().at(r.operator_name);
  const Expectation expected = expect(*c.op, c.arguments);
  const bool answered = expected.answer.outcome == Outcome::ok && !expected.outs[0].bytes.empty();
  if (!answered || !FaultyLibrary::is_wrong(effect, std::get<Tensor>(c.arguments[0]).bytes)) return "innocent";
  return effect.blamed == Class::none ? "timeout" : std::string(name(effect.blamed));
}

std::string verdict(const Record& r) {
  if (!is_failure(r.verdict)) return "innocent";
  return r.failure == Class::none ? std::string(name(r.verdict)) : std::string(name(r.failure));
}

void expect_right_blame(const std::vector<Record>& records) {
  std::map<std::string, int> blamed;
  for (const Record& r : records) {
    EXPECT_EQ(verdict(r), blame(r)) << r.case_id << ": " << r.message;
    ++blamed[verdict(r)];
  }
  for (const auto& [name, effect] : FaultyLibrary::effects()) {
    if (effect.needs_no_sanitizer && !heap::is_watched) continue;
    EXPECT_GT(blamed[effect.blamed == Class::none ? "timeout" : std::string(assay::name(effect.blamed))], 0) << name;
  }
}

const std::vector<Record>& records() {
  static const std::vector<Record> all = judged(2);
  return all;
}

TEST(Isolation, AttributesEachFailureToItsCall) { expect_right_blame(records()); }

// ASSAY_SHUFFLES is the number of orders. Each order takes seconds of processor time.
TEST(Isolation, AttributesFailuresInEveryOrder) {
  const char* asked = std::getenv("ASSAY_SHUFFLES");
  for (int shuffle = 1; shuffle <= (asked ? std::atoi(asked) : heap::is_watched ? 10 : 1); ++shuffle) {
    SCOPED_TRACE(shuffle);
    expect_right_blame(judged(2, static_cast<std::uint64_t>(shuffle)));
  }
}

TEST(Isolation, AnyNumberOfWorkersGivesTheSameRecords) {
  const auto lines = [](std::vector<Record> records) {
    std::string all;
    for (Record& r : records) r.seconds = 0, all += to_json_line(r) + "\n";
    return all;
  };
  const std::string two = lines(records());
  EXPECT_TRUE(two == lines(judged(1)));
  EXPECT_TRUE(two == lines(judged(7)));
}

const Record& first_of(const std::vector<Record>& records, Class failure) {
  return *std::ranges::find(records, failure, &Record::failure);
}

TEST(Isolation, RecordsTellHowACallEnded) {
  const Record& behind = first_of(records(), Class::writes_out_of_bounds);
  EXPECT_THAT(behind.message, HasSubstr("1 byte behind out is overwritten, the nearest 0 bytes from its end, with "));
  EXPECT_NE(behind.got, "");
  ASSERT_EQ(behind.outs.size(), 1u);
  EXPECT_EQ(behind.outs[0].name, "out");
  const Record& spoils = first_of(records(), Class::spoils_state);
  EXPECT_THAT(spoils.message, HasSubstr("after this call aten::neg.out#"));
  const Record& twice = first_of(records(), Class::not_repeatable);
  EXPECT_EQ(twice.got, "");
  EXPECT_EQ(twice.distance, std::nullopt);
  const Record& hangs = *std::ranges::find(records(), Verdict::timeout, &Record::verdict);
  EXPECT_EQ(hangs.message, "took more than 200 ms of processor time");
}

TEST(Plan, ACaseIsInOneBlockAndShufflingChangesTheOrderOnly) {
  SuiteOptions options;
  options.operators = "abs,add", options.mutations = 50;
  const auto ids = [](const std::vector<Block>& blocks) {
    std::vector<std::set<std::string>> all;
    for (const Block& block : blocks) {
      all.emplace_back();
      for (const CaseId& id : block) EXPECT_TRUE(all.back().insert(to_text(id)).second) << to_text(id);
    }
    return all;
  };
  const std::vector<Block> blocks = plan_blocks(corpus(), options, false);
  options.shuffle = 5, options.workers = 3;
  const std::vector<Block> shuffled = plan_blocks(corpus(), options, false);
  EXPECT_NE(blocks, shuffled);
  EXPECT_THAT(ids(shuffled), testing::UnorderedElementsAreArray(ids(blocks)));
  EXPECT_EQ(plan_blocks(corpus(), options, false), shuffled);
}

TEST(Suite, AnInterruptEndsIt) {
  std::atomic<bool> interrupted = false;
  FaultyLibrary library;
  const Contract everything;
  CaseRunner children(corpus(), library, everything, {60s, 600s, &interrupted});
  SuiteOptions options;
  options.operators = "aten::abs.out,aten::sigmoid.out";
  std::size_t judged = 0;
  const auto stop = [&](const Record&) { interrupted = ++judged >= 10; };
  EXPECT_THROW(judge_blocks(children, plan_blocks(corpus(), options, true), 2, stop), Interrupted);
  EXPECT_LT(judged, 1000u);
}

}  // namespace isolation_test
}  // namespace assay
