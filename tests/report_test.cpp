#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "conformance/report/html.h"
#include "conformance/report/record.h"
#include "conformance/report/summary.h"
#include "conformance/report/table.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr double infinity = std::numeric_limits<double>::infinity();

Record passing(std::string operator_name, std::string case_id = "#0") {
  Record record;
  record.testee = "executorch";
  record.operator_name = std::move(operator_name);
  record.case_id = record.operator_name + case_id;
  record.dtypes = {"float32", "float32"};
  record.layouts = {"contiguous", "channels_last"};
  record.slices = {"exported", "layouts"};
  record.distance = 0;
  record.seconds = 0.5;
  return record;
}

Record failing(std::string operator_name, Class failure, std::string case_id = "#0",
               std::optional<std::uint64_t> elements = 6) {
  Record record = passing(std::move(operator_name), std::move(case_id));
  record.verdict = Verdict::fail;
  record.failure = failure;
  record.elements = elements;
  return record;
}

Record ending(std::string operator_name, Verdict verdict, std::string case_id = "#0") {
  Record record = passing(std::move(operator_name), std::move(case_id));
  record.verdict = verdict;
  record.distance.reset();
  return record;
}

Record detailed() {
  Record record = failing("aten::_softmax.out", Class::value, "#17~dtype:0:5~size:1:0");
  record.distance = 31.4;
  record.rule = "softmax.accuracy";
  record.message = "Element (1, 0) of größe 日本 is off: </script>";
  record.outs = {{"out", "float16 (2)"}};
  record.inputs = {{"self", "float16[2] [0, 1]"}, {"dim", "-1"}};
  record.expected = "[0.27, 0.73]";
  record.got = "[0.5, 0.5]";
  record.bound = "4·√K·u·B";
  record.known = true;
  return record;
}

std::string error_of(std::string_view line) {
  try {
    from_json_line(line);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

// The line of a passing record with one field replaced, or removed when the value is discarded.
std::string line_with(const char* field, const nlohmann::ordered_json& value) {
  nlohmann::ordered_json object = to_json(passing("aten::add.out"));
  if (value.is_discarded())
    object.erase(field);
  else
    object[field] = value;
  return object.dump();
}

Summary summary_of(const std::vector<Record>& records) {
  Summary summary;
  for (const Record& record : records) summary.add(record);
  return summary;
}

std::string table_of(const Summary& summary, const TableStyle& style = {}) {
  std::ostringstream out;
  write_table(out, summary, style);
  return out.str();
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

TEST(Record, TablesAreInTheOrderOfTheirEnums) {
  for (std::size_t i = 0; i < verdicts.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(verdicts[i].verdict), i);
  for (std::size_t i = 0; i < classes.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(classes[i].failure), i);
}

TEST(Record, TextOfAPassHasTheRequiredFieldsInOrder) {
  EXPECT_EQ(
      to_json_line(passing("aten::add.out", "#17")),
      R"({"testee":"executorch","operator":"aten::add.out","case":"aten::add.out#17",)"
      R"("dtypes":["float32","float32"],"layouts":["contiguous","channels_last"],"valid":true,)"
      R"("slices":["exported","layouts"],"promised":true,"verdict":"pass","class":"","distance":0.0,"seconds":0.5})");
}

TEST(Record, EveryFieldSurvives) {
  EXPECT_EQ(from_json_line(to_json_line(passing("aten::add.out"))), passing("aten::add.out"));
  EXPECT_EQ(from_json_line(to_json_line(detailed())), detailed());
}

TEST(Record, EveryVerdictAndClassSurvives) {
  for (const VerdictRow& verdict : verdicts) {
    Record record = ending("aten::add.out", verdict.verdict);
    if (verdict.verdict == Verdict::fail) continue;
    EXPECT_EQ(from_json_line(to_json_line(record)), record);
  }
  for (const ClassRow& row : classes) {
    if (row.failure == Class::none) continue;
    const Record record = failing("aten::add.out", row.failure);
    EXPECT_EQ(from_json_line(to_json_line(record)), record);
  }
}

TEST(Record, DistanceMayBeInfiniteNanOrAbsent) {
  Record record = failing("aten::add.out", Class::value);
  record.distance = infinity;
  EXPECT_THAT(to_json_line(record), HasSubstr(R"("distance":"inf")"));
  EXPECT_EQ(from_json_line(to_json_line(record)).distance, infinity);

  record.distance = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(to_json_line(record), HasSubstr(R"("distance":"nan")"));
  EXPECT_TRUE(std::isnan(from_json_line(to_json_line(record)).distance.value()));

  record.distance.reset();
  EXPECT_THAT(to_json_line(record), HasSubstr(R"("distance":null)"));
  EXPECT_FALSE(from_json_line(to_json_line(record)).distance.has_value());
}

TEST(Record, DistanceKeepsEveryBit) {
  Record record = passing("aten::add.out");
  record.distance = 0.1 + 0.2;
  EXPECT_EQ(from_json_line(to_json_line(record)).distance, 0.1 + 0.2);
}

TEST(Record, IsOneLineOfUtf8WhateverTheTesteeSaid) {
  Record record = detailed();
  record.message = "two\nlines, \xff no UTF-8";
  const std::string line = to_json_line(record);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_EQ(from_json_line(line).message, "two\nlines, \xef\xbf\xbd no UTF-8");
}

TEST(Record, BadInputIsNamed) {
  const nlohmann::ordered_json removed(nlohmann::ordered_json::value_t::discarded);
  EXPECT_EQ(error_of(""), "record: wanted one JSON object, got an empty line");
  EXPECT_EQ(error_of("{\"testee\":"), "record: wanted one JSON object, got {\"testee\":");
  EXPECT_EQ(error_of("[1]"), "record: wanted one JSON object, got [1]");
  EXPECT_EQ(error_of(line_with("case", removed)), "record: field \"case\" is missing");
  EXPECT_EQ(error_of(line_with("seconds", "fast")),
            "record: field \"seconds\" must be a number, \"inf\", \"-inf\" or \"nan\", got \"fast\"");
  EXPECT_EQ(error_of(line_with("seconds", nullptr)),
            "record: field \"seconds\" must be a number, \"inf\", \"-inf\" or \"nan\", got null");
  EXPECT_EQ(error_of(line_with("operator", 7)), "record: field \"operator\" must be a string, got 7");
  EXPECT_EQ(error_of(line_with("dtypes", "float32")), "record: field \"dtypes\" must be a list, got \"float32\"");
  EXPECT_EQ(error_of(line_with("dtypes", {"float32"})),
            "record: \"dtypes\" and \"layouts\" must name the same tensors, got 1 and 2 entries");
  EXPECT_EQ(error_of(line_with("verdict", "passed")),
            "record: field \"verdict\" must be one of \"pass\", \"quality\", \"fail\", \"unsupported\", "
            "\"crash\", \"timeout\", got \"passed\"");
  EXPECT_EQ(error_of(line_with("verdict", "fail")), "record: verdict \"fail\" needs a class, got \"\"");
  EXPECT_EQ(error_of(line_with("class", "nan")), "record: verdict \"pass\" has no class, got \"nan\"");
  EXPECT_EQ(error_of(line_with("elements", -1)), "record: field \"elements\" must be an integer of at least 0, got -1");
  EXPECT_EQ(error_of(line_with("known", "yes")), "record: field \"known\" must be true or false, got \"yes\"");
  EXPECT_EQ(error_of(line_with("inputs", {{{"name", "self"}}})),
            "record: field \"inputs\" must be a list of {\"name\", \"text\"}, got {\"name\":\"self\"}");
  EXPECT_EQ(error_of(line_with("mesage", "x")), "record: unknown field \"mesage\"");
}

TEST(Record, ReproLineIsQuotedWhereAShellNeedsIt) {
  Record record = passing("aten::add.out", "#17~dtype:0:5");
  EXPECT_EQ(repro_line(record), "assay case aten::add.out#17~dtype:0:5");
  record.case_id = "aten::add.out#17~layout:0:(0,2,1)";
  EXPECT_EQ(repro_line(record), "assay case 'aten::add.out#17~layout:0:(0,2,1)'");
  record.case_id = "it's $HOME";
  EXPECT_EQ(repro_line(record), R"(assay case 'it'\''s $HOME')");
  record.case_id = "#17";
  EXPECT_EQ(repro_line(record), "assay case '#17'");
}

// The kind of a finding in a valid call that exporters emit.
FindingKind kind(Verdict verdict, Class failure, bool known = false) {
  Record record = passing("aten::add.out");
  record.verdict = verdict, record.failure = failure, record.known = known;
  return kind_of(record);
}

TEST(FindingKind, SeriousFirst) {
  const std::vector<FindingKind> order{kind(Verdict::fail, Class::spoils_state),
                                       kind(Verdict::fail, Class::changes_input),
                                       kind(Verdict::fail, Class::writes_out_of_bounds),
                                       kind(Verdict::crash, Class::none),
                                       kind(Verdict::crash, Class::bus_error),
                                       kind(Verdict::timeout, Class::none),
                                       kind(Verdict::fail, Class::value),
                                       kind(Verdict::fail, Class::nan),
                                       kind(Verdict::fail, Class::unwritten),
                                       kind(Verdict::fail, Class::reads_uninitialised),
                                       kind(Verdict::fail, Class::refused_though_valid),
                                       kind(Verdict::crash, Class::abort),
                                       kind(Verdict::fail, Class::accepted_though_invalid),
                                       kind(Verdict::pass, Class::none, true),
                                       kind(Verdict::quality, Class::none),
                                       kind(Verdict::unsupported, Class::none),
                                       kind(Verdict::fail, Class::value, true),
                                       kind(Verdict::crash, Class::abort, true)};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    EXPECT_TRUE(MoreSerious{}(order[i], order[i + 1])) << name(order[i]) << ", " << name(order[i + 1]);
    EXPECT_FALSE(MoreSerious{}(order[i + 1], order[i])) << name(order[i]) << ", " << name(order[i + 1]);
  }
}

TEST(FindingKind, CasesOfOneClassInTwoTiersAreTwoFindings) {
  Record outside = failing("aten::add.out", Class::value);
  outside.promised = false;
  const Summary summary = summary_of({outside, failing("aten::add.out", Class::value)});
  const auto& findings = summary.testees.at("executorch").at("aten::add.out").findings;
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings.begin()->first.tier, Tier::wrong_exported);
  EXPECT_EQ(std::next(findings.begin())->first.tier, Tier::not_promised);
}

TEST(FindingKind, IsNamedByItsClassOrItsVerdict) {
  EXPECT_EQ(name(kind(Verdict::fail, Class::changes_input)), "changes-input");
  EXPECT_EQ(name(kind(Verdict::timeout, Class::none, true)), "timeout");
  EXPECT_EQ(name(kind(Verdict::crash, Class::abort)), "crash (abort)");
  EXPECT_EQ(name(kind(Verdict::pass, Class::none, true)), "passes-though-listed");
}

TEST(Summary, CountsPerTesteeOperatorVerdictAndClass) {
  Record other = passing("aten::add.out");
  other.testee = "optimized";
  const Summary summary =
      summary_of({passing("aten::add.out", "#0"), passing("aten::add.out", "#1"), failing("aten::add.out", Class::nan),
                  failing("aten::add.out", Class::nan), ending("aten::mul.out", Verdict::crash), other});
  ASSERT_EQ(summary.testees.size(), 2u);
  const TesteeSummary& testee = summary.testees.at("executorch");
  const OperatorSummary& add = testee.at("aten::add.out");
  EXPECT_THAT(add.verdicts, ElementsAre(2, 0, 2, 0, 0, 0));
  EXPECT_DOUBLE_EQ(add.seconds, 2.0);
  ASSERT_EQ(add.findings.size(), 1u);
  EXPECT_EQ(add.findings.at(kind(Verdict::fail, Class::nan)).cases, 2u);
  EXPECT_THAT(verdict_counts(testee), ElementsAre(2, 0, 2, 0, 1, 0));
}

TEST(Summary, ADefectGivesAFindingItsSmallestCallAndIsNoCase) {
  const Record first = failing("aten::add.out", Class::value, "#0~size:1:0:0", 6);
  Record smallest = failing("aten::add.out", Class::value, "#0", 60);
  std::istringstream lines("{\"header\":{\"assay\":\"1\"}}\n" + to_json_line(first) + "\n" +
                           to_json_line(Defect{first.case_id, smallest}) + "\n{\"footer\":{\"complete\":true}}\n");
  const Summary summary = summarize(lines);
  const Finding& finding = summary.testees.at("executorch").at("aten::add.out").findings.at(kind_of(first));
  EXPECT_EQ(finding.cases, 1u);
  EXPECT_EQ(finding.smallest, smallest);
  EXPECT_THROW(defect_from_json_line("{\"defect\":{\"from\":1}}"), std::invalid_argument);
}

TEST(Summary, ADtypeCountsOncePerCase) {
  Record record = failing("aten::add.out", Class::value);
  record.dtypes = {"float32", "int64", "float32"};
  record.layouts = {"contiguous", "contiguous", "(1,0)"};
  const OperatorSummary entry = summary_of({record}).testees.at("executorch").at("aten::add.out");
  EXPECT_EQ(total(entry.dtypes.at("float32")), 1u);
  EXPECT_EQ(total(entry.dtypes.at("int64")), 1u);
  EXPECT_EQ(total(entry.layouts.at("contiguous")), 1u);
  EXPECT_EQ(total(entry.layouts.at("(1,0)")), 1u);
}

TEST(Summary, KeepsTheSmallestCallWhateverTheOrder) {
  const Record smallest = failing("aten::add.out", Class::value, "#9", 0);
  std::vector<Record> records{failing("aten::add.out", Class::value, "#1", 3),
                              failing("aten::add.out", Class::value, "#2", std::nullopt),
                              failing("aten::add.out", Class::value, "#1~size:1:0", 0), smallest};
  for (std::size_t turn = 0; turn < records.size(); ++turn) {
    std::rotate(records.begin(), records.begin() + 1, records.end());
    const Summary summary = summary_of(records);
    const Finding& finding = summary.testees.at("executorch").at("aten::add.out").findings.at(kind_of(smallest));
    EXPECT_EQ(finding.cases, 4u);
    EXPECT_EQ(finding.smallest, smallest);
  }
}

TEST(Summary, AnExpectedFailureDoesNotHideANewOne) {
  Record expected = failing("aten::add.out", Class::value, "#0", 1);
  expected.known = true;
  const Record fresh = failing("aten::add.out", Class::value, "#100", 100);
  const Summary summary = summary_of({expected, fresh});
  const auto& findings = summary.testees.at("executorch").at("aten::add.out").findings;
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings.begin()->second.smallest, fresh);
}

TEST(Summary, DoesNotGrowWithTheNumberOfCases) {
  Summary summary;
  for (int i = 0; i < 100000; ++i) {
    summary.add(passing("aten::add.out", "#" + std::to_string(i)));
    summary.add(failing("aten::add.out", Class::value, "#" + std::to_string(i)));
  }
  const OperatorSummary& entry = summary.testees.at("executorch").at("aten::add.out");
  EXPECT_EQ(total(entry.verdicts), 200000u);
  EXPECT_EQ(entry.findings.size(), 1u);
  EXPECT_EQ(entry.dtypes.size(), 1u);
  EXPECT_EQ(entry.layouts.size(), 2u);
}

TEST(Summary, ReadsLinesAndNamesTheBadOne) {
  std::istringstream good(to_json_line(passing("aten::add.out")) + "\n" + to_json_line(detailed()) + "\n");
  EXPECT_EQ(summarize(good).testees.at("executorch").size(), 2u);

  std::istringstream torn(to_json_line(passing("aten::add.out")) + "\n{\"testee\":\"exec");
  try {
    summarize(torn);
    FAIL() << "a torn line was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), StartsWith("line 2: record: wanted one JSON object"));
  }
}

TEST(Table, IsThisText) {
  Record nan = failing("aten::maximum.out", Class::nan, "#3");
  nan.message = "The NaN in self does not reach the result.";
  Record quality = ending("aten::add.out", Verdict::quality, "#6");
  const Summary summary =
      summary_of({passing("aten::add.out"), quality, passing("aten::maximum.out"), nan,
                  ending("aten::maximum.out", Verdict::crash, "#4~size:1:0"), passing("aten::relu.out")});
  EXPECT_EQ(table_of(summary, {.width = 88}), R"(executorch

operator           cases pass quality fail unsupported crash timeout  worst
----------------------------------------------------------------------------------------
aten::add.out          2    1       1    -           -     -       -  quality
aten::maximum.out      3    1       -    1           -     1       -  crash
aten::relu.out         1    1       -    -           -     -       -
----------------------------------------------------------------------------------------
total of 3             6    3       1    1           -     1       -

Findings, most serious first: what, in how many cases, the smallest one
crash    1  assay case aten::maximum.out#4~size:1:0
nan      1  assay case aten::maximum.out#3  # The NaN in self does not reach the result.
quality  1  assay case aten::add.out#6
)");
}

TEST(Table, StaysInsideItsWidth) {
  Record longest = failing("aten::_native_batch_norm_legit_no_training.out", Class::accepted_though_invalid);
  longest.message = std::string(300, 'x') + "größe";
  Record wide = failing("aten::add.out", Class::value);
  for (int i = 0; i < 60; ++i) wide.message += "größe ";
  const std::string table = table_of(summary_of({longest, wide}));
  for (const std::string& line : lines_of(table)) EXPECT_LE(code_points(line), 100) << line;
  EXPECT_THAT(table, HasSubstr("assay case aten::_native_batch_norm_legit_no_training.out#0\n"));
  EXPECT_THAT(table, HasSubstr("…"));
  EXPECT_THAT(table_of(summary_of({longest}), {.width = 140}),
              HasSubstr("\naten::_native_batch_norm_legit_no_training.out  "));
}

TEST(Table, CutsNothingWhereWidthIsUnlimited) {
  Record longest = failing("aten::_native_batch_norm_legit_no_training.out", Class::accepted_though_invalid);
  longest.message = std::string(300, 'x') + "the end";
  const std::string table = table_of(summary_of({longest}), {.width = TableStyle::unlimited});
  EXPECT_THAT(table, HasSubstr("\naten::_native_batch_norm_legit_no_training.out  "));
  EXPECT_THAT(table, HasSubstr("accepted-though-invalid\n"));
  EXPECT_THAT(table, HasSubstr("xthe end\n"));
  EXPECT_THAT(table, Not(HasSubstr("…")));
}

TEST(Table, ListsAtMostTheAskedFindingsAndCountsTheRest) {
  std::vector<Record> records;
  for (const char* name : {"aten::a.out", "aten::b.out", "aten::c.out"}) records.push_back(failing(name, Class::value));
  const std::string table = table_of(summary_of(records), {.findings = 2});
  EXPECT_THAT(table, HasSubstr("assay case aten::b.out#0\n... and 1 more\n"));
  EXPECT_THAT(table, Not(HasSubstr("assay case aten::c.out")));
}

TEST(Table, ExpectedFailuresAreCountedButNoNews) {
  Record expected = failing("aten::add.out", Class::value);
  expected.known = true;
  const std::string table = table_of(summary_of({expected}));
  EXPECT_THAT(table, HasSubstr("No findings.\n1 case failed as listed\n"));
  EXPECT_THAT(table, Not(HasSubstr("assay case")));
}

TEST(Table, UnsupportedIsNoFinding) {
  EXPECT_THAT(table_of(summary_of({ending("aten::add.out", Verdict::unsupported)})), HasSubstr("No findings.\n"));
}

TEST(Table, ColourOnlyWhenAsked) {
  const Summary summary = summary_of({failing("aten::add.out", Class::value)});
  EXPECT_THAT(table_of(summary), Not(HasSubstr("\x1b")));
  EXPECT_THAT(table_of(summary, {.colour = true}), HasSubstr("\x1b[31mvalue"));
}

TEST(Table, AMessageCannotMoveTheCursor) {
  Record record = failing("aten::add.out", Class::value);
  record.message = "one\ntwo\x1b[2J";
  EXPECT_THAT(table_of(summary_of({record})), HasSubstr("# one two [2J\n"));
}

std::string page_of(const Summary& summary, const Facts& facts = {}) {
  std::ostringstream out;
  write_html(out, summary, facts);
  return out.str();
}

std::string data_of(const std::string& page) {
  const std::string opening = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(opening) + opening.size();
  return page.substr(begin, page.find('<', begin) - begin);
}

TEST(Html, IsOnePageWithTheDataInside) {
  const std::string page = page_of(summary_of({passing("aten::add.out"), detailed()}), {{"Seed", "42"}});
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, Not(HasSubstr("{{data}}")));
  const auto data = nlohmann::json::parse(data_of(page));
  EXPECT_EQ(data["facts"], nlohmann::json::parse(R"([{"name":"Seed","text":"42"}])"));
  const auto& operators = data["testees"][0]["operators"];
  ASSERT_EQ(operators.size(), 2u);
  const auto& finding = operators[0]["findings"][0];
  EXPECT_EQ(finding["kind"], "value");
  EXPECT_EQ(finding["expected"], true);
  EXPECT_EQ(finding["repro"], "assay case aten::_softmax.out#17~dtype:0:5~size:1:0");
  EXPECT_EQ(finding["smallest"], nlohmann::json::parse(to_json_line(detailed())));
  EXPECT_EQ(operators[1]["verdicts"]["pass"], 1);
}

TEST(Html, NoTextEndsTheData) {
  const std::string page = page_of(summary_of({detailed()}), {{"Machine", "</script><!--"}});
  const auto data = nlohmann::json::parse(data_of(page));
  EXPECT_EQ(data["facts"][0]["text"], "</script><!--");
  EXPECT_EQ(data["testees"][0]["operators"][0]["findings"][0]["smallest"]["message"], detailed().message);
}

TEST(Html, BytesThatAreNotUtf8DoNotStopIt) {
  Record record = detailed();
  record.got = "\xff\xfe";
  const auto data = nlohmann::json::parse(data_of(page_of(summary_of({record}))));
  EXPECT_EQ(data["testees"][0]["operators"][0]["findings"][0]["smallest"]["got"], "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace assay
