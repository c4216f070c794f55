// What holds of every entry of the spec, whatever operator it is of.

#include <gtest/gtest.h>

#include <set>

#include "conformance/cases/case.h"
#include "reference/call.h"
#include "tests/support/static_call.h"

namespace assay {
namespace spec_test {

const Corpus& corpus() {
  static const Corpus recorded(ASSAY_GOLDEN);
  return recorded;
}

class EveryOperator : public testing::TestWithParam<const Operator*> {};

TEST_P(EveryOperator, HasRecordedCalls) {
  const RecordedCalls* calls = corpus().calls(GetParam()->name);
  ASSERT_NE(calls, nullptr) << "run tools/record --operators '" << GetParam()->name << "'";
  EXPECT_GT(calls->size(), 0u);
}

// Each rule is broken by some call, and the call that the breaking one is made from, one change away, is valid where
// its outs are left to the entry.
TEST_P(EveryOperator, HasACaseThatBreaksEachRule) {
  const RecordedCalls* calls = corpus().calls(GetParam()->name);
  ASSERT_NE(calls, nullptr);
  std::set<std::string_view> broken;
  for (const CaseId& id : rule_breaking_cases(corpus(), *calls)) {
    Case breaking = corpus().make(id), valid = corpus().make({id.operator_name, id.call, {}});
    for (std::size_t i = valid.arguments.size() - valid.op->outs(); i < valid.arguments.size(); ++i)
      valid.arguments[i] = {};
    const std::vector<Value> before = breaking.arguments;
    const Answer refusal = call(*breaking.op, breaking.arguments);
    for (const Known known : {Known::sizes, Known::ranks})
      EXPECT_EQ(static_mismatch(*breaking.op, before, refusal, {}, known), "") << to_text(id);
    EXPECT_EQ(call(*valid.op, valid.arguments).outcome, Outcome::ok) << to_text(id);
    EXPECT_FALSE(refusal.message.empty()) << to_text(id);
    for (const Rule& rule : GetParam()->rules) {
      if (rule.id != refusal.rule) continue;
      broken.insert(rule.id);
      EXPECT_EQ(refusal.outcome, rule.outcome) << rule.id;
    }
  }
  for (const Rule& rule : GetParam()->rules)
    EXPECT_TRUE(broken.contains(rule.id)) << rule.id << ": " << rule.sentence << " is broken by no case";
}

std::vector<const Operator*> all_operators() {
  std::vector<const Operator*> all;
  for (const Operator& op : operator_table()) all.push_back(&op);
  return all;
}

std::string test_name(const testing::TestParamInfo<const Operator*>& parameter) {
  std::string name(parameter.param->name);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Spec, EveryOperator, testing::ValuesIn(all_operators()), test_name);

}  // namespace spec_test
}  // namespace assay
