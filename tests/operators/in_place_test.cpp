// The in-place forms of operators: aten::relu_ is aten::relu.out whose out is self.

#include <gtest/gtest.h>

#include <algorithm>

#include "reference/call.h"
#include "tests/support/tensors.h"

namespace assay {
namespace in_place_test {

using enum DType;

struct Called {
  Called(std::string_view name, std::vector<Value> given) : arguments(std::move(given)) {
    const Operator& op = *find_operator(name);
    arguments.resize(op.arguments.size());
    answer = call(op, arguments);
  }
  const Tensor& result() const { return std::get<Tensor>(arguments.back()); }

  std::vector<Value> arguments;
  Answer answer;
};

std::string refusal(std::string_view name, std::vector<Value> arguments) {
  return Called(name, std::move(arguments)).answer.rule;
}

TEST(InPlaceForms, HaveTheNamesThatATenHas) {
  for (const std::string_view name :
       {"aten::relu_", "aten::add_.Tensor", "aten::pow_.Scalar", "aten::pow_.Tensor", "aten::floor_divide_.Tensor",
        "aten::fill_.Scalar", "aten::cumsum_", "aten::bitwise_left_shift_.Tensor_Scalar", "aten::round_.decimals"})
    EXPECT_NE(find_operator(name), nullptr) << name;
  for (const std::string_view none :
       {"aten::maximum_", "aten::rsub_.Scalar", "aten::isnan_", "aten::relu_.out", "aten::mm_"})
    EXPECT_EQ(find_operator(none), nullptr) << none;
}

TEST(InPlaceForms, ChangeTheirFirstArgumentAndHaveTheRulesOfTheirOperator) {
  EXPECT_GT(in_place_table().size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(in_place_table(), {}, &Operator::name));
  for (const Operator& form : in_place_table()) {
    EXPECT_EQ(find_operator(form.name), &form);
    EXPECT_EQ(form.outs(), 1u) << form.name;
    EXPECT_TRUE(form.arguments[0].mutated) << form.name;
    EXPECT_EQ(form.new_value_of(0), form.arguments.size() - 1) << form.name;
    const auto op = std::ranges::find(operator_table(), form.run, &Operator::run);
    ASSERT_NE(op, operator_table().end()) << form.name;
    EXPECT_EQ(form.id, op->id);
    EXPECT_EQ(form.rules.data(), op->rules.data());
    ASSERT_EQ(form.arguments.size(), op->arguments.size()) << form.name;
    for (std::size_t i = 0; i + 1 < form.arguments.size(); ++i) {
      EXPECT_EQ(form.arguments[i].name, op->arguments[i].name) << form.name;
      EXPECT_EQ(form.arguments[i].default_text, op->arguments[i].default_text) << form.name;
    }
  }
}

TEST(InPlaceForms, StoreTheResultLikeTheArgument) {
  Tensor self = tensor(float16, {2, 2}, {1, 2, 3, 4});
  self.dim_order = {1, 0};
  const Tensor sum = Called("aten::add_.Tensor", {self, tensor(float32, {2, 2}, {1, 1, 1, 0.5}), Int{1}}).result();
  EXPECT_EQ(sum.dtype, float16);
  EXPECT_EQ(sum.dim_order, (Dims{1, 0}));
  EXPECT_EQ(values_of(sum)[0], 2);
  EXPECT_EQ(Called("aten::lt_.Scalar", {tensor(float32, {2}, {1, 3}), Int{2}}).result().dtype, float32);
}

TEST(InPlaceForms, RefuseResultsThatTheArgumentDoesNotHold) {
  const Tensor row = tensor(float32, {2}, {1, 2}), matrix = tensor(float32, {3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(refusal("aten::add_.Tensor", {row, matrix, Int{1}}), "add.out") << "the result would have more elements";
  EXPECT_EQ(refusal("aten::add_.Tensor", {matrix, row, Int{1}}), "");
  EXPECT_EQ(refusal("aten::div_.Tensor", {tensor(int32, {2}, {1, 2}), row}), "div.out") << "no integer is a quotient";
  EXPECT_EQ(refusal("aten::neg_", {tensor(boolean, {1}, {1})}), "neg.R1") << "the rules of the operator hold";
}

}  // namespace in_place_test
}  // namespace assay
