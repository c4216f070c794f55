#include "conformance/verdict/record.h"

#include <gmock/gmock-matchers.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/records.h"

namespace assay {
namespace record_test {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string error_of(std::string_view line) {
  try {
    verdict::from_json_line(line);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

// The line of a passing record with one field replaced, or removed when the value is discarded.
std::string line_with(const char* field, const nlohmann::ordered_json& value) {
  nlohmann::ordered_json object = verdict::to_json(passing("aten::add.out"));
  if (value.is_discarded())
    object.erase(field);
  else
    object[field] = value;
  return object.dump();
}

TEST(Record, TablesAreInTheOrderOfTheirEnums) {
  for (std::size_t i = 0; i < verdict::verdicts.size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(verdict::verdicts[i].verdict), i);
  for (std::size_t i = 0; i < verdict::classes.size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(verdict::classes[i].failure), i);
}

TEST(Record, TextOfAPassHasTheRequiredFieldsInOrder) {
  EXPECT_EQ(
      verdict::to_json_line(passing("aten::add.out", "#17")),
      R"({"testee":"executorch","operator":"aten::add.out","case":"aten::add.out#17",)"
      R"("dtypes":["float32","float32"],"layouts":["contiguous","channels_last"],"valid":true,)"
      R"("slices":["exported","layouts"],"promised":true,"verdict":"pass","class":"","distance":0.0,"seconds":0.5})");
}

TEST(Record, EveryFieldKeepsItsValue) {
  EXPECT_EQ(verdict::from_json_line(verdict::to_json_line(passing("aten::add.out"))), passing("aten::add.out"));
  EXPECT_EQ(verdict::from_json_line(verdict::to_json_line(detailed())), detailed());
}

TEST(Record, EveryFieldKeepsItsValueBetweenProcesses) {
  verdict::Record record = detailed();
  record.message = "two\nlines, \xff no UTF-8";
  const std::string bytes = verdict::to_bytes(record);
  EXPECT_EQ(verdict::from_bytes(bytes), record);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(verdict::from_bytes(bytes.substr(0, size)), std::invalid_argument) << size;
  EXPECT_THROW(verdict::from_bytes(bytes + '\0'), std::invalid_argument);
}

TEST(Record, EveryVerdictAndClassKeepsItsValue) {
  for (const verdict::VerdictRow& verdict : verdict::verdicts) {
    verdict::Record record = ending("aten::add.out", verdict.verdict);
    if (verdict.verdict == verdict::Verdict::fail) continue;
    EXPECT_EQ(verdict::from_json_line(verdict::to_json_line(record)), record);
  }
  for (const verdict::ClassRow& row : verdict::classes) {
    if (row.failure == verdict::Class::none) continue;
    const verdict::Record record = failing("aten::add.out", row.failure);
    EXPECT_EQ(verdict::from_json_line(verdict::to_json_line(record)), record);
  }
}

TEST(Record, DistanceMayBeInfiniteNanOrAbsent) {
  verdict::Record record = failing("aten::add.out", verdict::Class::value);
  record.distance = infinity;
  EXPECT_THAT(verdict::to_json_line(record), HasSubstr(R"("distance":"inf")"));
  EXPECT_EQ(verdict::from_json_line(verdict::to_json_line(record)).distance, infinity);

  record.distance = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(verdict::to_json_line(record), HasSubstr(R"("distance":"nan")"));
  EXPECT_TRUE(std::isnan(verdict::from_json_line(verdict::to_json_line(record)).distance.value()));

  record.distance.reset();
  EXPECT_THAT(verdict::to_json_line(record), HasSubstr(R"("distance":null)"));
  EXPECT_FALSE(verdict::from_json_line(verdict::to_json_line(record)).distance.has_value());
}

TEST(Record, DistanceKeepsEveryBit) {
  verdict::Record record = passing("aten::add.out");
  record.distance = 0.1 + 0.2;
  EXPECT_EQ(verdict::from_json_line(verdict::to_json_line(record)).distance, 0.1 + 0.2);
}

TEST(Record, IsOneLineOfUtf8ForAnyMessageOfTheTestee) {
  verdict::Record record = detailed();
  record.message = "two\nlines, \xff no UTF-8";
  const std::string line = verdict::to_json_line(record);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_EQ(verdict::from_json_line(line).message, "two\nlines, \xef\xbf\xbd no UTF-8");
}

TEST(Record, BadInputIsRefusedByName) {
  const nlohmann::ordered_json removed(nlohmann::ordered_json::value_t::discarded);
  EXPECT_EQ(error_of(""), "wanted one JSON object, got an empty line");
  EXPECT_THAT(error_of("{\"testee\":"), StartsWith("wanted one JSON object, got {\"testee\": ("));
  EXPECT_THAT(error_of("{\"testee\":1,\"testee\":2}"), HasSubstr("key \"testee\" comes twice"));
  EXPECT_EQ(error_of("[1]"), "wanted one JSON object, got [1]");
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
            "\"crash\", \"timeout\", \"undecided\", got \"passed\"");
  EXPECT_EQ(error_of(line_with("verdict", "fail")), "record: verdict \"fail\" needs a class, got \"\"");
  EXPECT_EQ(error_of(line_with("class", "nan")), "record: verdict \"pass\" has no class, got \"nan\"");
  EXPECT_EQ(error_of(line_with("features", "12")), "record: \"features\" must have 23 characters, got 2");
  for (const char wrong : {'6', '/', 'x'})  // the rank has the values 0 to 5
    EXPECT_EQ(error_of(line_with("features", "-" + std::string(1, wrong) + std::string(21, '-'))),
              std::string("record: \"features\" must have a digit below 6 or - for rank, got ") + wrong);
  EXPECT_EQ(error_of(line_with("elements", -1)), "record: field \"elements\" must be an integer of at least 0, got -1");
  EXPECT_EQ(error_of(line_with("known", "yes")), "record: field \"known\" must be true or false, got \"yes\"");
  EXPECT_EQ(error_of(line_with("inputs", {{{"name", "self"}}})),
            "record: field \"inputs\" must be a list of {\"name\", \"text\"}, got {\"name\":\"self\"}");
  EXPECT_EQ(error_of(line_with("mesage", "x")), "record: unknown field \"mesage\"");
}

TEST(Record, ReproLineIsQuotedWhereAShellNeedsIt) {
  verdict::Record record = passing("aten::add.out", "#17~dtype:0:5");
  EXPECT_EQ(verdict::repro_line(record), "assay case aten::add.out#17~dtype:0:5");
  record.case_id = "aten::add.out#17~layout:0:(0,2,1)";
  EXPECT_EQ(verdict::repro_line(record), "assay case 'aten::add.out#17~layout:0:(0,2,1)'");
  record.case_id = "it's $HOME";
  EXPECT_EQ(verdict::repro_line(record), R"(assay case 'it'\''s $HOME')");
  record.case_id = "#17";
  EXPECT_EQ(verdict::repro_line(record), "assay case '#17'");
  EXPECT_EQ(verdict::repro_line(record, "-- ./end -v", "my contract.yaml"),
            "assay case '#17' --contract 'my contract.yaml' --testee '-- ./end -v'");
}

}  // namespace record_test
}  // namespace assay
