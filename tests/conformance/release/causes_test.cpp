// Mistakes of kernel authors, one at a time, and the causes that are reported for them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <iostream>
#include <regex>

#include "conformance/defects/defects.h"
#include "conformance/runner/suite.h"
#include "tests/support/corpus.h"
#include "tests/support/faulty_kernels.h"
#include "tests/support/part.h"

namespace assay {
namespace causes_test {

using namespace std::chrono_literals;

std::vector<verdict::Defect> defects(const faulty::Mistake& mistake) {
  faulty::Library library(mistake);
  const contract::Contract everything;
  runner::CaseRunner case_runner(corpus(), library, everything, {2s, 60s});
  runner::SuiteOptions options;
  options.operators = mistake.op;
  std::vector<defects::JudgedCase> cases;
  runner::judge_blocks(case_runner, runner::plan_blocks(corpus(), options, false), options.workers,
                       [&](const verdict::Record& r) { cases.push_back(defects::seen(r)); });
  return defects::defects_of(&case_runner, corpus(), std::move(cases), options.workers, [](std::string_view) {});
}

enum class Score { right, buried, wrong, missed };
constexpr const char* words[] = {"right", "buried", "wrong", "missed"};
constexpr std::size_t most_lines = 2;  // of a right cause and what else is said beside it

// Right: the defect of most cases says it, in at most two conditions, and few others are beside it. Buried: another
// line says it, or more is said.
Score score(const faulty::Mistake& mistake, const std::vector<verdict::Defect>& found) {
  const std::regex right(mistake.right);
  const auto says = [&](const verdict::Defect& d) {
    return std::regex_search(d.sentence.substr(d.sentence.find(' ')), right);
  };
  if (found.empty()) return Score::missed;
  const verdict::Defect& most = *std::ranges::max_element(found, {}, &verdict::Defect::cases);
  const std::regex and_or(" and | or ");
  const auto begin = std::sregex_iterator(most.when.begin(), most.when.end(), and_or);
  if (says(most) && std::distance(begin, std::sregex_iterator()) <= 2 && found.size() <= most_lines)
    return Score::right;
  return std::ranges::any_of(found, says) ? Score::buried : Score::wrong;
}

// A sentence says once in how many calls a kernel fails, and names a size only if kernels branch on it.
void expect_clear(const std::string& sentence) {
  EXPECT_FALSE(sentence.find("in some calls") != sentence.npos && sentence.find("in most calls") != sentence.npos)
      << sentence;
  const std::regex size("(size|number of elements) of [a-z0-9_]+( along dim)? is at least ([0-9]+)");
  for (auto at = std::sregex_iterator(sentence.begin(), sentence.end(), size); at != std::sregex_iterator(); ++at) {
    const std::uint64_t n = std::stoull((*at)[3]);
    EXPECT_TRUE(std::has_single_bit(n) || std::has_single_bit(n - 1)) << sentence;
  }
}

TEST(Causes, AreWhatTheAuthorDid) {
  std::map<Score, std::size_t> scores;
  std::size_t all = 0;
  const char* only = std::getenv("ASSAY_MISTAKES");
  const Part part;
  std::size_t position = 0;
  for (const faulty::Mistake& mistake : faulty::mistakes()) {
    if (!only && !part.has(position++)) continue;
    if (only && !std::regex_search(concat(mistake.name, ' ', mistake.op), std::regex(only))) continue;
    const std::vector<verdict::Defect> found = defects(mistake);
    const Score s = score(mistake, found);
    ++scores[s], ++all;
    std::cout << fmt::format("{:7} {} [{}]\n", words[static_cast<int>(s)], mistake.name, mistake.op);
    for (const verdict::Defect& d : found) {
      std::cout << fmt::format("          {:4} {}\n", d.cases, d.sentence);
      expect_clear(d.sentence);
    }
    std::cout << std::flush;
  }
  std::cout << fmt::format("{} right, {} buried, {} wrong, {} missed, of {}\n", scores[Score::right],
                           scores[Score::buried], scores[Score::wrong], scores[Score::missed], all);
  EXPECT_GE(100 * scores[Score::right], 85 * all);
  EXPECT_LE(100 * scores[Score::wrong], 5 * all);
  EXPECT_EQ(scores[Score::missed], 0u);
}

}  // namespace causes_test
}  // namespace assay
