#include "reference/program/checks.h"

// Bundled programs: the rules of area B.
namespace assay {
namespace {

using bpte::ValueUnion;
using pte::KernelTypes;
using Values = std::vector<std::unique_ptr<bpte::ValueT>>;

constexpr LayoutRules tensor_rules{"B6", "B6", "B6", "B6", "B6"};

// A number may be of another type when it is an output.
bool may_be(KernelTypes in_plan, ValueUnion in_bundle) {
  return in_bundle == ValueUnion::Tensor ? in_plan == KernelTypes::Tensor : is_number(in_plan);
}

void check_value(const bpte::ValueUnionUnion& value, const pte::KernelTypesUnion& in_plan, const Place& place,
                 Findings& f) {
  f.check(may_be(in_plan.type, value.type), "B5", place, "is a ", EnumNameValueUnion(value.type),
          ", but in the program it is a ", EnumNameKernelTypes(in_plan.type));
  const bpte::TensorT* tensor = value.AsTensor();
  if (!tensor) return;
  const auto bytes = check_layout(*tensor, tensor_rules, place, f);
  if (bytes)
    f.check(tensor->data.size() >= *bytes, "B7", place, "has ", tensor->data.size(),
            " bytes of data, but its sizes are those of ", *bytes);
}

void check_values(const Values& values, const pte::ExecutionPlanT& plan, const std::vector<std::int32_t>& indices,
                  std::string_view kind, const Place& test, Findings& f) {
  if (!f.check(values.size() == indices.size(), "B4", test, "has ", values.size(), " ", kind, "s, but the method has ",
               indices.size()))
    return;
  for (std::size_t i = 0; i < values.size(); ++i)
    check_value(values[i]->val, plan.values[static_cast<std::size_t>(indices[i])]->val,
                test.in(kind, static_cast<Int>(i)), f);
}

void check_suite(const bpte::BundledMethodTestSuiteT& suite, const ValidProgram& program, const Place& place,
                 Findings& f) {
  const pte::ExecutionPlanT* plan = program.plan(suite.method_name);
  if (!f.check(plan != nullptr, "B3", place, "is of method \"", suite.method_name,
               "\", which the program does not have"))
    return;
  for (std::size_t i = 0; i < suite.test_cases.size(); ++i) {
    const bpte::BundledMethodTestCaseT& test = *suite.test_cases[i];
    const Place here = place.in("case", static_cast<Int>(i));
    check_values(test.inputs, *plan, plan->inputs, "input", here, f);
    if (!test.expected_outputs.empty()) check_values(test.expected_outputs, *plan, plan->outputs, "output", here, f);
  }
}

}  // namespace

std::vector<Fault> faults_of(const BundledProgram& bundle, const ValidProgram& program) {
  Findings f;
  for (std::size_t i = 0; i < bundle.method_test_suites.size(); ++i)
    check_suite(*bundle.method_test_suites[i], program, {nullptr, "suite", static_cast<Int>(i)}, f);
  return std::move(f.faults);
}

}  // namespace assay
