#include "conformance/verdict/compare.h"

#include <gmock/gmock-more-matchers.h>

#include "tests/support/records.h"

namespace assay {
namespace compare_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

RunFile run_of(std::vector<Record> records, std::vector<Defect> defects = {}) {
  return {R"({"header":{"assay":"1","seed":"1"}})", std::move(records), std::move(defects), {}, true};
}

std::vector<std::string> ids(const std::vector<Change>& changes) {
  std::vector<std::string> list;
  for (const Change& c : changes) list.push_back(c.case_id);
  return list;
}

Record unpromised(Record r) {
  r.promised = false;
  return r;
}

Record listed(Record r) {
  r.known = true;
  return r;
}

const Record good = passing("aten::add.out"), bad = failing("aten::add.out", Class::value),
             refused = failing("aten::add.out", Class::refused_though_valid),
             damaging = failing("aten::add.out", Class::double_free),
             unsupported = ending("aten::add.out", Verdict::unsupported),
             poor = ending("aten::add.out", Verdict::quality);

TEST(Baseline, AFailureIsNewIfItPassedWasLessSeriousOrWasNotJudged) {
  const auto is_new = [](std::vector<Record> before, const Record& now) {
    return Baseline(run_of(before)).is_new(now);
  };
  for (const Record& before : {good, poor, unsupported, refused})
    EXPECT_TRUE(is_new({before}, bad)) << name(before.verdict);
  EXPECT_TRUE(is_new({}, bad));
  EXPECT_TRUE(is_new({bad}, damaging));
  for (const Record& before : {bad, damaging, listed(bad)}) EXPECT_FALSE(is_new({before}, bad));
  for (const Record& now : {good, poor, unsupported, listed(bad)})
    EXPECT_FALSE(is_new({good}, now)) << name(now.verdict);
  EXPECT_FALSE(is_new({bad}, failing("aten::add.out", Class::shape)));  // a failure of the same tier
}

TEST(Baseline, IsReadFromLines) {
  std::istringstream lines(to_json_line(bad) + "\n" + to_json_line(good).substr(0, 40));
  const Baseline baseline(lines);
  EXPECT_FALSE(baseline.is_new(bad));
  EXPECT_TRUE(baseline.is_new(failing("aten::mul.out", Class::value)));
}

TEST(Compare, ARunEqualsItself) {
  const RunFile run = run_of({bad, passing("aten::mul.out")}, {defect_of({bad})});
  const Changes c = compare(run, run);
  EXPECT_FALSE(c.is_worse());
  for (const auto* changes : {&c.fresh, &c.mended, &c.given_up}) EXPECT_THAT(*changes, IsEmpty());
  for (const auto* cases : {&c.only_before, &c.only_after, &c.cut_off}) EXPECT_THAT(*cases, IsEmpty());
  for (const auto* defects : {&c.fresh_defects, &c.mended_defects}) EXPECT_THAT(*defects, IsEmpty());
  EXPECT_THAT(c.settings, IsEmpty());
}

TEST(Compare, SeparatesNewMendedAndGivenUpCases) {
  const Record mul = passing("aten::mul.out"), exp = failing("aten::exp.out", Class::nan),
               relu = passing("aten::relu.out"), log = passing("aten::log.out");
  const Changes c =
      compare(run_of({good, mul, exp, relu}),
              run_of({bad, mul, passing("aten::exp.out"), ending("aten::relu.out", Verdict::unsupported), log}));
  EXPECT_THAT(ids(c.fresh), ElementsAre("aten::add.out#0"));
  EXPECT_EQ(text(c.fresh[0].after), "fail (value)");
  EXPECT_EQ(text(*c.fresh[0].before), "pass");
  EXPECT_THAT(ids(c.mended), ElementsAre("aten::exp.out#0"));
  EXPECT_THAT(ids(c.given_up), ElementsAre("aten::relu.out#0"));
  EXPECT_THAT(c.only_before, IsEmpty());
  EXPECT_THAT(c.only_after, ElementsAre("aten::log.out#0"));
}

TEST(Compare, OnlyANewPromisedFailureIsWorse) {
  EXPECT_TRUE(compare(run_of({good}), run_of({bad})).is_worse());
  EXPECT_TRUE(compare(run_of({}), run_of({bad})).is_worse());
  EXPECT_TRUE(compare(run_of({bad}), run_of({damaging})).is_worse());
  EXPECT_FALSE(compare(run_of({damaging}), run_of({bad})).is_worse());
  EXPECT_FALSE(compare(run_of({good}), run_of({unpromised(bad)})).is_worse());
  EXPECT_THAT(compare(run_of({good}), run_of({unpromised(bad)})).fresh, SizeIs(1));
  EXPECT_FALSE(compare(run_of({good}), run_of({listed(bad)})).is_worse());
}

TEST(Compare, AFailureThatIsNoLongerSupportedIsNotMended) {
  const Changes c = compare(run_of({bad}), run_of({unsupported}));
  EXPECT_THAT(c.mended, IsEmpty());
  EXPECT_THAT(ids(c.given_up), ElementsAre("aten::add.out#0"));
}

TEST(Compare, DefectsAreComparedById) {
  const Record mul = failing("aten::mul.out", Class::value);
  const Defect of_add = defect_of({bad}), of_mul = defect_of({mul});
  const Changes c = compare(run_of({bad, passing("aten::mul.out")}, {of_add}), run_of({good, mul}, {of_mul}));
  EXPECT_THAT(c.fresh_defects, ElementsAre(of_mul));
  EXPECT_THAT(c.mended_defects, ElementsAre(of_add));
}

TEST(Compare, ADefectWithAnotherSentenceIsNeitherNewNorMended) {
  const Changes c = compare(run_of({bad}, {defect_of({bad})}), run_of({bad}, {defect_of({bad}, "whenever dim is 0")}));
  EXPECT_THAT(c.fresh_defects, IsEmpty());
  EXPECT_THAT(c.mended_defects, IsEmpty());
}

TEST(Compare, ADefectThatGrowsIsNotNew) {
  const Record other = passing("aten::add.out", "#1"), other_bad = failing("aten::add.out", Class::value, "#1");
  const Changes c =
      compare(run_of({bad, other}, {defect_of({bad})}), run_of({bad, other_bad}, {defect_of({bad, other_bad})}));
  EXPECT_THAT(ids(c.fresh), ElementsAre("aten::add.out#1"));
  EXPECT_THAT(c.fresh_defects, IsEmpty());
}

TEST(Compare, NamesDifferentSettingsAndIncompleteRuns) {
  RunFile after = run_of({});
  after.header = R"({"header":{"assay":"2","seed":"1","shuffle":7}})";
  after.complete = false;
  const Changes c = compare(run_of({}), after);
  ASSERT_THAT(c.settings, SizeIs(2));
  EXPECT_EQ(c.settings[0].name + c.settings[0].before + c.settings[0].after, "assay12");
  EXPECT_EQ(c.settings[1].name + c.settings[1].before + c.settings[1].after, "shuffle7");
  EXPECT_THAT(c.cut_off, ElementsAre("after"));
}

}  // namespace compare_test
}  // namespace assay
