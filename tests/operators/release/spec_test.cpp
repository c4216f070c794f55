// Properties of every entry of the spec.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/cases/case.h"
#include "reference/call.h"
#include "reference/functional.h"
#include "tests/support/corpus.h"
#include "tests/support/static_call.h"

namespace assay {
namespace spec_test {

class EveryOperator : public testing::TestWithParam<const Operator*> {};

TEST_P(EveryOperator, HasRecordedCalls) {
  const cases::RecordedCalls* calls = corpus().calls(GetParam()->name);
  ASSERT_NE(calls, nullptr) << "run record/record --operators '" << GetParam()->name << "'";
  EXPECT_GT(calls->size(), 0u);
}

// Each rule is broken by some call. The call that this call is derived from by one change is valid when the entry
// decides its outs.
TEST_P(EveryOperator, HasACaseThatBreaksEachRule) {
  const cases::RecordedCalls* calls = corpus().calls(GetParam()->name);
  ASSERT_NE(calls, nullptr);
  std::set<std::string_view> broken;
  for (const cases::CaseId& id : cases::rule_breaking_cases(corpus(), *calls)) {
    cases::Case breaking = corpus().make(id), valid = corpus().make({id.operator_name, id.call, {}});
    for (std::size_t i = valid.arguments.size() - valid.op->outs(); i < valid.arguments.size(); ++i)
      valid.arguments[i] = {};
    const std::vector<Value> before = breaking.arguments;
    const Answer refusal = call(*breaking.op, breaking.arguments);
    for (const Known known : {Known::sizes, Known::ranks})
      EXPECT_EQ(static_mismatch(*breaking.op, before, refusal, {}, known), "") << cases::to_text(id);
    EXPECT_EQ(call(*valid.op, valid.arguments).outcome, Outcome::ok) << cases::to_text(id);
    EXPECT_FALSE(refusal.message.empty()) << cases::to_text(id);
    for (const Rule& rule : GetParam()->rules) {
      if (rule.id != refusal.rule) continue;
      broken.insert(rule.id);
      EXPECT_EQ(refusal.outcome, rule.outcome) << rule.id;
    }
  }
  for (const Rule& rule : GetParam()->rules)
    EXPECT_TRUE(broken.contains(rule.id)) << rule.id << ": " << rule.sentence << " is broken by no case";
}

const FunctionalForm* form_of(const Operator& op) {
  const auto all = functional_table();
  const auto at = std::ranges::find(all, &op, &FunctionalForm::op);
  return at == all.end() ? nullptr : &*at;
}

// In every graph, an operator that changes an argument and has no outs is called by its own name.
TEST_P(EveryOperator, HasAFunctionalForm) {
  const Operator& op = *GetParam();
  const FunctionalForm* form = form_of(op);
  ASSERT_EQ(form == nullptr, op.outs() == op.mutated()) << op.name;
  if (!form) return;
  EXPECT_EQ(find_functional(form->name), form) << form->name;
  EXPECT_EQ(form->arguments().size() + op.outs(), op.arguments.size());
  std::size_t at = 0;
  for (const SchemaArgument& argument : form->arguments()) {
    const std::string default_text = argument.default_text.empty() ? "" : concat("=", argument.default_text);
    at = op.schema.find(concat(" ", argument.name, default_text), at);
    EXPECT_NE(at, std::string_view::npos) << argument.name << " of " << op.schema;
    EXPECT_FALSE(argument.out) << argument.name;
  }
}

TEST(FunctionalForms, HaveTheNamesThatATenHas) {
  const std::pair<std::string_view, std::string_view> expected[] = {
      {"aten::relu", "aten::relu.out"},
      {"aten::add.Tensor", "aten::add.out"},
      {"aten::add.Scalar", "aten::add.Scalar_out"},
      {"aten::sum.dim_IntList", "aten::sum.IntList_out"},
      {"aten::mean.dim", "aten::mean.out"},
      {"aten::max.dim", "aten::max.dim_max"},
      {"aten::sort.stable", "aten::sort.values_stable"},
      {"aten::full", "aten::full.out"},
      {"aten::sym_size.int", "aten::sym_size.int"},
      {"dim_order_ops::_to_dim_order_copy", "dim_order_ops::_to_dim_order_copy.out"},
      {"quantized_decomposed::quantize_per_tensor.tensor", "quantized_decomposed::quantize_per_tensor.Tensor_out"},
  };
  for (const auto& [functional, out] : expected) {
    const FunctionalForm* form = find_functional(functional);
    ASSERT_NE(form, nullptr) << functional;
    EXPECT_EQ(form->op->name, out);
  }
  EXPECT_TRUE(find_functional("aten::full")->takes_options);
  EXPECT_FALSE(find_functional("aten::relu")->takes_options);
  for (const std::string_view none : {"aten::copy_", "aten::add.out", "aten::nothing"})
    EXPECT_EQ(find_functional(none), nullptr) << none;
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
