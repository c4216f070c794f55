// spec/verdicts.md, spec/runtime_suite.md and the tables in the code have the same words, each once.
#include <gmock/gmock-matchers.h>

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "conformance/contract/read_contract.h"
#include "conformance/scenarios/scenario.h"
#include "conformance/verdict/stated_defects.h"
#include "tests/support/golden.h"
#include "tests/support/records.h"

namespace assay {
namespace verdicts_test {

using testing::ElementsAreArray;

using Word = std::pair<std::string, std::string>;  // and the last cell of its row

// The rows of the table under a heading, if the first cell is a word that the tools print.
std::vector<Word> documented(const std::string& heading, const std::string& page = "verdicts.md") {
  static const std::regex row(R"(\| `([^`]+)` \|(?:.* \|)? ([^|]+) \|)");
  std::ifstream file(golden_folder().parent_path() / "spec" / page);
  std::vector<Word> words;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    std::smatch found;
    if (inside && std::regex_match(line, found, row)) words.emplace_back(found[1], found[2]);
  }
  return words;
}

template <typename Table>
std::vector<Word> words_of(const Table& table) {
  std::vector<Word> words;
  for (const auto& row : table)
    if (!row.name.empty()) words.emplace_back(row.name, row.sentence);
  return words;
}

std::vector<std::string> names_of(const std::vector<Word>& words) {
  std::vector<std::string> names;
  for (const Word& word : words) names.push_back(word.first);
  return names;
}

std::vector<std::string> fields_of(const nlohmann::ordered_json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

TEST(Words, TablesHaveTheWordsOfTheSpecification) {
  EXPECT_THAT(documented("Verdicts"), ElementsAreArray(words_of(verdict::verdicts)));
  EXPECT_THAT(documented("Classes"), ElementsAreArray(words_of(verdict::classes)));
  EXPECT_THAT(documented("Tiers"), ElementsAreArray(words_of(verdict::tiers)));
}

TEST(Words, TheRuntimeSuiteHasTheWordsOfTheSpecification) {
  EXPECT_THAT(documented("Cases", "runtime_suite.md"), ElementsAreArray(words_of(scenarios::scenario_kinds)));
}

TEST(Words, FeaturesOfCallsHaveTheWordsOfTheSpecification) {
  std::vector<std::string> names;
  for (const verdict::CallFeature& feature : verdict::call_features()) names.emplace_back(feature.name);
  EXPECT_THAT(names_of(documented("Made cases")), ElementsAreArray(names));
}

TEST(Words, SlicesHaveTheWordsOfTheSpecification) {
  std::vector<Word> slices;
  for (const contract::CaseSlice& slice : contract::read_contract("everything").slices)
    slices.emplace_back(slice.name, slice.about);
  EXPECT_THAT(documented("Slices"), ElementsAreArray(slices));
}

TEST(Words, LinesHaveTheWordsOfTheSpecification) {
  EXPECT_THAT(names_of(documented("Case lines")), ElementsAreArray(fields_of(verdict::to_json(detailed()))));
  verdict::Defect defect = defect_of({detailed()});
  defect.ways = {"whenever self has NaN", "always"}, defect.command = verdict::repro_line(defect.smallest);
  defect.neighbours = {"The call passes if alpha is 1 instead of 2"};
  const auto line = nlohmann::ordered_json::parse(verdict::to_json_line(defect));
  EXPECT_THAT(names_of(documented("Defect lines")), ElementsAreArray(fields_of(line["defect"])));
}

// A few causes of one kind are told apart; many are told more broadly.
TEST(StatedDefects, JoinManyCausesOfAKind) {
  const auto found = [](int places, int rules, bool is_of_a_kind) {
    verdict::StatedDefects defects("the loader", [](const verdict::Record&, const verdict::Record&) { return false; });
    for (int i = 0; i < places; ++i) {
      const verdict::Record r = failing("T1", verdict::Class::heap_damage, fmt::format("#{}", i));
      const std::string place = fmt::format("at {}", i), rule = fmt::format("of rule {}", i % rules);
      if (is_of_a_kind)
        defects.add(r, {r.failure, "", {place, rule, "in many ways"}});
      else
        defects.add(r, {r.failure, "", {place}});
    }
    return defects.found();
  };
  EXPECT_EQ(found(3, 3, true).size(), 3u);
  EXPECT_EQ(found(40, 1, false).size(), 40u);
  ASSERT_EQ(found(40, 2, true).size(), 2u);
  EXPECT_EQ(found(40, 2, true)[0].sentence, "the loader damages the heap of rule 0");
  ASSERT_EQ(found(40, 4, true).size(), 1u);
  EXPECT_EQ(found(40, 4, true)[0].sentence, "the loader damages the heap in many ways");
  EXPECT_EQ(found(40, 4, true)[0].case_ids.size(), 40u);
}

TEST(StatedDefects, SayWhatTheTesteeDoes) {
  verdict::StatedDefects defects("the runtime", [](const verdict::Record&, const verdict::Record&) { return false; });
  defects.add(failing("recorded", verdict::Class::exit),
              {verdict::Class::exit, "break the rule protocol.reply of the wire protocol"});
  EXPECT_EQ(defects.found().at(0).sentence, "the runtime breaks the rule protocol.reply of the wire protocol");
}

}  // namespace verdicts_test
}  // namespace assay
