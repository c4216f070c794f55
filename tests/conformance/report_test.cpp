#include <gmock/gmock-more-matchers.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "conformance/report/html.h"
#include "conformance/report/table.h"
#include "conformance/text/read_line.h"
#include "tests/support/records.h"

namespace assay {
namespace report_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// A summary in which each failing record is a defect.
verdict::Summary with_defects(const std::vector<verdict::Record>& records) {
  std::vector<verdict::Defect> defects;
  for (const verdict::Record& r : records)
    if (verdict::tier_of(r) != verdict::Tier::none) defects.push_back(defect_of({r}));
  return summary_of(records, defects);
}

std::string table_of(const verdict::Summary& summary, const report::TableStyle& style = {}) {
  return written([&](std::ostream& out) { report::write_table(out, summary, style); });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::ptrdiff_t code_points(const std::string& text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

TEST(Defect, EveryFieldKeepsItsValue) {
  verdict::Defect d = defect_of({detailed()});
  d.trial = {9, 8, 7, 6};
  EXPECT_EQ(verdict::defect_from_json_line(verdict::to_json_line(d)), d);
  EXPECT_THROW(verdict::defect_from_json_line("{\"defect\":{\"from\":1}}"), std::invalid_argument);
}

TEST(Defect, NamesTheReasonWhyItDoesNotCount) {
  verdict::Record outside = failing("aten::add.out", verdict::Class::value), listed = outside, poor = outside;
  outside.promised = false, listed.known = true, poor.verdict = verdict::Verdict::quality,
  poor.failure = verdict::Class::none;
  EXPECT_EQ(verdict::excuse(defect_of({failing("aten::add.out", verdict::Class::value)})), "");
  EXPECT_EQ(verdict::excuse(defect_of({outside})), "outside of the contract");
  EXPECT_EQ(verdict::excuse(defect_of({listed})), "listed as an expected failure");
  EXPECT_EQ(verdict::excuse(defect_of({poor})), "no failure, but could be better");
}

TEST(Summary, CountsPerTesteeOperatorAndVerdict) {
  verdict::Record other = passing("aten::add.out"), outside = passing("aten::add.out");
  other.testee = "optimized", outside.promised = false;
  const verdict::Summary summary =
      summary_of({passing("aten::add.out", "#0"), outside, failing("aten::add.out", verdict::Class::nan),
                  failing("aten::add.out", verdict::Class::nan), ending("aten::mul.out", verdict::Verdict::crash),
                  ending("aten::mul.out", verdict::Verdict::quality),
                  ending("aten::mul.out", verdict::Verdict::unsupported), other});
  ASSERT_EQ(summary.testees.size(), 2u);
  const verdict::TesteeSummary& testee = summary.testees.at("executorch");
  const verdict::OperatorSummary& add = testee.operators.at("aten::add.out");
  EXPECT_THAT(add.verdicts, ElementsAre(2, 0, 2, 0, 0, 0, 0));
  EXPECT_THAT(add.promised, ElementsAre(1, 0, 2, 0, 0, 0, 0));
  EXPECT_DOUBLE_EQ(add.seconds, 2.0);
  EXPECT_EQ(add.worst, verdict::Tier::wrong_exported);
  EXPECT_THAT(verdict::verdict_counts(testee), ElementsAre(2, 1, 2, 1, 1, 0, 0));
  EXPECT_EQ(verdict::kinds_of_passes(testee), "2 answers and 0 right refusals pass");
  EXPECT_EQ(verdict::headline(testee), "2 of 5 promised calls pass (40.00 %); 0 defects");
}

// The position of a feature's value in the field `features`: the dtype has none.
std::string with_values(std::vector<std::pair<std::string_view, char>> values) {
  std::string text(verdict::call_feature_count - 1, '-');
  for (const auto& [name, digit] : values) {
    const auto at = std::ranges::find(verdict::call_features(), name, &verdict::CallFeature::name);
    text[static_cast<std::size_t>(at - verdict::call_features().begin()) - 1] = digit;
  }
  return text;
}

TEST(Summary, CountsDistinctCallsByFeature) {
  verdict::Record first = passing("aten::add.out", "#0"), again = passing("aten::add.out", "#0~dtype:0:5:0"),
                  matrix = passing("aten::add.out", "#1"),
                  wrong = failing("aten::add.out", verdict::Class::value, "#2"),
                  outside = passing("aten::add.out", "#3"), refused = passing("aten::add.out", "#4");
  first.features = again.features = with_values({{"rank", '1'}, {"keepdim", '0'}});
  matrix.features = wrong.features = outside.features = refused.features = with_values({{"rank", '2'}});
  first.call = again.call = "a", matrix.call = "b", wrong.call = "c", outside.call = "d", refused.call = "e";
  matrix.dtypes = {"int8", "float32"}, outside.promised = false, refused.valid = false;
  const verdict::Summary summary = summary_of({first, again, matrix, wrong, outside, refused});
  const verdict::TesteeSummary& testee = summary.testees.at("executorch");
  std::vector<std::string> rows;
  for (const verdict::FeatureCounts& f : verdict::answers_by_feature(testee))
    rows.push_back(f.feature + " " + verdict::to_text(f));
  EXPECT_THAT(rows, ElementsAre("dtype float32: 1, int8: 1", "rank 0: 0, 1: 1, 2: 1, 3: 0, 4: 0, more: 0",
                                "keepdim false: 1, true: 0"));
  EXPECT_EQ(verdict::kinds_of_passes(testee), "3 answers, to 2 distinct calls, and 1 right refusals pass");
  const std::string table = table_of(summary);
  EXPECT_THAT(table, HasSubstr("distinct calls answered, by feature\n"
                               "  dtype    float32: 1, int8: 1\n"
                               "  rank     0: 0, 1: 1, 2: 1, 3: 0, 4: 0, more: 0\n"
                               "  keepdim  false: 1, true: 0\n"));
  for (const std::string& line : lines_of(table_of(summary, {.width = 30})))
    if (line.starts_with("  ")) EXPECT_LE(code_points(line), 30) << line;
}

TEST(Summary, AListedFailureIsReportedOnlyIfItPasses) {
  verdict::Record expected = failing("aten::add.out", verdict::Class::value), mended = passing("aten::add.out", "#1");
  expected.known = mended.known = true;
  const verdict::TesteeSummary testee = summary_of({expected, mended}).testees.at("executorch");
  EXPECT_EQ(testee.operators.at("aten::add.out").worst, verdict::Tier::none);
  EXPECT_EQ(testee.operators.at("aten::add.out").listed, 1u);
  EXPECT_THAT(testee.passing_though_listed, ElementsAre("aten::add.out#1"));
  EXPECT_THAT(verdict::unexamined_operators(testee), IsEmpty());
}

TEST(Summary, OperatorsThatARunDidNotReachAreNamed) {
  const verdict::Record seen = failing("aten::add.out", verdict::Class::value),
                        unseen = failing("aten::mul.out", verdict::Class::value);
  const verdict::Summary summary = summary_of({seen, unseen, passing("aten::relu.out")}, {defect_of({seen})});
  EXPECT_THAT(verdict::unexamined_operators(summary.testees.at("executorch")), ElementsAre("aten::mul.out"));
}

TEST(Summary, ADtypeCountsOncePerCase) {
  verdict::Record record = failing("aten::add.out", verdict::Class::value);
  record.dtypes = {"float32", "int64", "float32"};
  record.layouts = {"contiguous", "contiguous", "(1,0)"};
  const verdict::Summary summary = summary_of({record});
  const verdict::OperatorSummary& entry = summary.testees.at("executorch").operators.at("aten::add.out");
  EXPECT_EQ(verdict::total(entry.dtypes.at("float32")), 1u);
  EXPECT_EQ(verdict::total(entry.dtypes.at("int64")), 1u);
  EXPECT_EQ(verdict::total(entry.layouts.at("contiguous")), 1u);
  EXPECT_EQ(verdict::total(entry.layouts.at("(1,0)")), 1u);
}

TEST(Summary, DefectsAreSortedBySeverity) {
  const verdict::Record shape = failing("aten::add.out", verdict::Class::shape),
                        abort = failing("aten::add.out", verdict::Class::abort, "#1"),
                        damage = failing("aten::add.out", verdict::Class::double_free, "#2");
  verdict::Record listed = damage;
  listed.known = true;
  std::vector<verdict::Defect> defects{defect_of({listed}), defect_of({abort}), defect_of({shape}),
                                       defect_of({damage})};
  const verdict::Summary summary = summary_of({}, defects);
  std::ranges::reverse(defects);
  std::swap(defects[1], defects[2]);
  std::ranges::sort(defects, verdict::is_more_serious);
  EXPECT_EQ(summary.testees.at("executorch").defects, defects);
  EXPECT_EQ(defects[0].tier, verdict::Tier::damage);
  EXPECT_EQ(defects[1].tier, verdict::Tier::wrong_exported);
  EXPECT_EQ(defects[2].tier, verdict::Tier::refused);
  EXPECT_TRUE(defects[3].known);
}

TEST(Summary, ReadsLinesAndNamesTheBadOne) {
  std::istringstream good("{\"header\":{\"assay\":\"1\"}}\n" + verdict::to_json_line(passing("aten::add.out")) + "\n" +
                          verdict::to_json_line(detailed()) + "\n" + verdict::to_json_line(defect_of({detailed()})) +
                          "\n{\"footer\":{\"complete\":true}}\n");
  const verdict::Summary summary = verdict::summarize(good);
  EXPECT_EQ(summary.testees.at("executorch").operators.size(), 2u);
  EXPECT_EQ(summary.testees.at("executorch").defects.size(), 1u);

  std::istringstream bad(verdict::to_json_line(passing("aten::add.out")) + "\n{\"testee\":\"exec\n");
  try {
    verdict::summarize(bad);
    FAIL() << "a bad line was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), StartsWith("line 2: wanted one JSON object"));
  }
}

TEST(RunFile, RefusesASecondLineOfACase) {
  const std::string line = verdict::to_json_line(passing("aten::add.out")) + "\n";
  std::istringstream lines(line + verdict::to_json_line(passing("aten::mul.out")) + "\n" + line);
  try {
    static_cast<void>(verdict::read_run(lines));
    FAIL() << "two lines of one case were taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), StartsWith("line 3: an earlier line is of the same case"));
  }
}

TEST(RunFile, RefusesALineBeyondTheLimit) {
  const auto error_of = [](std::size_t bytes) -> std::string {
    std::istringstream lines(std::string(bytes, 'x') + "\n");
    try {
      static_cast<void>(verdict::read_run(lines));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(error_of(text::most_line_bytes), StartsWith("line 1: it is longer than"));
  EXPECT_THAT(error_of(text::most_line_bytes - 1), StartsWith("line 1: wanted one JSON object"));
}

TEST(RunFile, TheFooterNamesUntriedPromises) {
  const auto read = [](const std::string& footer) {
    std::istringstream lines(footer + "\n");
    return verdict::read_run(lines);
  };
  const verdict::RunFile run =
      read(R"({"footer":{"complete":true,"cases":0,"untried":[{"name":"aten::add.out","text":"int8"}]}})");
  EXPECT_THAT(run.untried, ElementsAre(verdict::NamedText{"aten::add.out", "int8"}));
  EXPECT_EQ(verdict::miscounted(run), "");
  EXPECT_THROW(read(R"({"footer":{"untried":["aten::add.out"]}})"), std::invalid_argument);
}

TEST(RunFile, IsReadUpToWhereItWasCutOff) {
  const std::string whole = "{\"header\":{\"cases\":2}}\n" + verdict::to_json_line(passing("aten::add.out")) + "\n" +
                            verdict::to_json_line(passing("aten::mul.out")) + "\n{\"footer\":{\"complete\":true}}\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    std::istringstream cut(whole.substr(0, length));
    const verdict::RunFile run = verdict::read_run(cut);
    const auto lines = std::ranges::count(whole.substr(0, length), '\n');
    EXPECT_EQ(run.header.empty(), lines < 1);
    EXPECT_EQ(run.records.size(), static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(lines - 1, 0, 2)));
    EXPECT_EQ(run.complete, length == whole.size());
  }
}

TEST(Table, HasTheExpectedText) {
  verdict::Record nan = failing("aten::maximum.out", verdict::Class::nan, "#3");
  nan.message = "The NaN in self does not reach the result.";
  const verdict::Record quality = ending("aten::add.out", verdict::Verdict::quality, "#6"),
                        crash = ending("aten::maximum.out", verdict::Verdict::crash, "#4~size:1:0");
  EXPECT_EQ(table_of(with_defects({passing("aten::add.out"), quality, passing("aten::maximum.out"), nan, crash,
                                   passing("aten::relu.out")}),
                     {.width = 100}),
            R"(executorch

operator           cases pass quality fail unsupported crash timeout  worst
----------------------------------------------------------------------------------------------------
aten::add.out          2    1       1    -           -     -       -  quality
aten::maximum.out      3    1       -    1           -     1       -  damage
aten::relu.out         1    1       -    -           -     -       -
----------------------------------------------------------------------------------------------------
total of 3             6    3       1    1           -     1       -

Defects, most serious first, each with its smallest call
damage          aten::maximum.out ends the process always (1 case)
                assay case aten::maximum.out#4~size:1:0
wrong-exported  aten::maximum.out gives wrong values always (1 case)
                assay case aten::maximum.out#3  # The NaN in self does not reach the result.
quality         aten::add.out is less accurate than it should be always (1 case)
                assay case aten::add.out#6

4 answers and 0 right refusals pass
distinct calls answered, by feature
  dtype  float32: 4
4 of 6 promised calls pass (66.67 %); 3 defects
)");
}

TEST(Table, SaysThatNoCaseWasJudged) { EXPECT_EQ(table_of({}), "No case was judged.\n"); }

TEST(Table, NamesAFewPromisesThatNoAnswerTried) {
  verdict::RunFile run{{}, {passing("aten::a.out")}, {}, {}, true};
  run.untried = {{"aten::a.out", "float16, int8"}, {"aten::b.out", "bool"}};
  EXPECT_THAT(table_of(verdict::summarize(run)),
              HasSubstr("\npromised, but not answered in any call: aten::a.out (float16, int8), aten::b.out (bool)\n"));
  run.untried = std::vector<verdict::NamedText>(7, {"aten::c.out", "bool"});
  EXPECT_THAT(table_of(verdict::summarize(run)), HasSubstr("aten::c.out (bool), and 2 more operators\n"));
  run.untried.clear();
  EXPECT_THAT(table_of(verdict::summarize(run)), Not(HasSubstr("promised, but")));
}

TEST(Table, StaysInsideItsWidth) {
  verdict::Record longest =
      failing("aten::_native_batch_norm_legit_no_training.out", verdict::Class::accepted_though_invalid);
  longest.message = std::string(300, 'x') + "größe";
  verdict::Record wide = failing("aten::add.out", verdict::Class::value);
  for (int i = 0; i < 60; ++i) wide.message += "größe ";
  const std::string table = table_of(with_defects({longest, wide}));
  for (const std::string& line : lines_of(table)) {
    if (line.ends_with(" case)")) continue;  // a sentence is never truncated
    EXPECT_LE(code_points(line), 100) << line;
  }
  EXPECT_THAT(table, HasSubstr("assay case aten::_native_batch_norm_legit_no_training.out#0"));
  EXPECT_THAT(table, HasSubstr("…"));
  EXPECT_THAT(table_of(summary_of({longest}), {.width = 140}),
              HasSubstr("\naten::_native_batch_norm_legit_no_training.out  "));
}

TEST(Table, CutsNothingWhereWidthIsUnlimited) {
  verdict::Record longest =
      failing("aten::_native_batch_norm_legit_no_training.out", verdict::Class::accepted_though_invalid);
  longest.message = std::string(300, 'x') + "the end";
  const std::string table = table_of(with_defects({longest}), {.width = report::TableStyle::unlimited});
  EXPECT_THAT(table, HasSubstr("\naten::_native_batch_norm_legit_no_training.out  "));
  EXPECT_THAT(table, HasSubstr("xthe end\n"));
  EXPECT_THAT(table, Not(HasSubstr("…")));
}

TEST(Table, ListsTheRequestedNumberOfDefectsAndCountsTheRest) {
  std::vector<verdict::Record> records;
  for (const char* name : {"aten::a.out", "aten::b.out", "aten::c.out"})
    records.push_back(failing(name, verdict::Class::value));
  const std::string table = table_of(with_defects(records), {.defects = 2});
  EXPECT_THAT(table, HasSubstr("assay case aten::b.out#0\n... and 1 more: --defects 3\n"));
  EXPECT_THAT(table, Not(HasSubstr("assay case aten::c.out")));
}

TEST(Table, DefectsOutsideOfTheContractAreCountedOrListed) {
  verdict::Record outside = failing("aten::add.out", verdict::Class::value);
  outside.promised = false;
  const verdict::Summary summary = with_defects({outside});
  EXPECT_THAT(table_of(summary), HasSubstr("No defects.\n1 more outside of the contract: --strict\n"));
  EXPECT_THAT(table_of(summary, {.outside = true}), HasSubstr("assay case aten::add.out#0"));
}

TEST(Table, CountsExpectedFailuresWithoutListingThem) {
  verdict::Record expected = failing("aten::add.out", verdict::Class::value);
  expected.known = true;
  const std::string table = table_of(with_defects({expected}));
  EXPECT_THAT(table, HasSubstr("No defects.\n1 case failed as listed\n"));
  EXPECT_THAT(table, Not(HasSubstr("assay case")));
}

TEST(Table, AnUnsupportedCallIsNotADefect) {
  EXPECT_THAT(table_of(summary_of({ending("aten::add.out", verdict::Verdict::unsupported)})),
              HasSubstr("No defects.\n"));
}

TEST(Table, HasColourOnlyIfRequested) {
  const verdict::Summary summary = with_defects({failing("aten::add.out", verdict::Class::value)});
  EXPECT_THAT(table_of(summary), Not(HasSubstr("\x1b")));
  EXPECT_THAT(table_of(summary, {.colour = true}), HasSubstr("\x1b[31mwrong-exported"));
}

TEST(Table, AMessageCannotMoveTheCursor) {
  verdict::Record record = failing("aten::add.out", verdict::Class::value);
  record.message = "one\ntwo\x1b[2J";
  EXPECT_THAT(table_of(with_defects({record})), HasSubstr("# one\\x0atwo\\x1b[2J\n"));
}

std::string page_of(const verdict::Summary& summary, const verdict::Facts& facts = {}) {
  return written([&](std::ostream& out) { report::write_html(out, summary, facts); });
}

nlohmann::json data_of(const std::string& page) {
  const std::string opening = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(opening) + opening.size();
  return nlohmann::json::parse(page.substr(begin, page.find('<', begin) - begin));
}

TEST(Html, IsOnePageWithTheDataInside) {
  const std::string page = page_of(with_defects({passing("aten::add.out"), detailed()}), {{"Seed", "42"}});
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, Not(HasSubstr("{{data}}")));
  const auto data = data_of(page);
  EXPECT_EQ(data["facts"], nlohmann::json::parse(R"([{"name":"Seed","text":"42"}])"));
  const auto& testee = data["testees"][0];
  EXPECT_EQ(testee["judged"], 2);
  EXPECT_EQ(testee["passed"], 1);
  EXPECT_EQ(testee["operators"][1]["verdicts"]["pass"], 1);
  const auto& defect = testee["defects"][0];
  EXPECT_EQ(defect["kind"], "value");
  EXPECT_EQ(defect["excuse"], "listed as an expected failure");
  EXPECT_EQ(defect["repro"], "assay case aten::_softmax.out#17~dtype:0:5~size:1:0");
  EXPECT_EQ(defect["smallest"], nlohmann::json::parse(verdict::to_json_line(detailed())));
}

TEST(Html, TellsAnswersFromRefusalsAndNamesUntriedPromises) {
  verdict::RunFile run{{}, {passing("aten::add.out")}, {}, {}, true};
  run.untried = {{"aten::add.out", "int8"}};
  const auto data = data_of(page_of(verdict::summarize(run)));
  const auto& testee = data["testees"][0];
  EXPECT_EQ(testee["passes"], "1 answers and 0 right refusals pass");
  EXPECT_EQ(testee["features"], nlohmann::json::parse(R"([{"name": "dtype", "text": "float32: 1"}])"));
  EXPECT_EQ(testee["untried"], "promised, but not answered in any call: aten::add.out (int8)");
}

TEST(Html, NoTextEndsTheData) {
  const auto data = data_of(page_of(with_defects({detailed()}), {{"Machine", "</script><!--"}}));
  EXPECT_EQ(data["facts"][0]["text"], "</script><!--");
  EXPECT_EQ(data["testees"][0]["defects"][0]["smallest"]["message"], detailed().message);
}

TEST(Html, AcceptsBytesThatAreNotUtf8) {
  verdict::Record record = detailed();
  record.got = "\xff\xfe";
  const auto data = data_of(page_of(with_defects({record})));
  EXPECT_EQ(data["testees"][0]["defects"][0]["smallest"]["got"], "\\xff\\xfe");
}

TEST(Html, DoesNotGrowWithTheNumberOfCases) {
  const std::vector<verdict::Record> many(1000, failing("aten::add.out", verdict::Class::value));
  EXPECT_LT(page_of(summary_of(many, {defect_of(many)})).size(),
            page_of(summary_of({many[0]}, {defect_of({many[0]})})).size() + 100);
}

}  // namespace report_test
}  // namespace assay
