#include "format/check.h"
#include "format/check_method.h"
#include "format/layout.h"

// Bundled programs: the rules of area B.
namespace assay::format {
namespace {

using bpte::ValueUnion;
using pte::KernelTypes;
using Values = flatbuffers::Vector<flatbuffers::Offset<bpte::Value>>;

// A number that is an output may have another type.
bool may_be(KernelTypes in_plan, ValueUnion in_bundle) {
  return in_bundle == ValueUnion::Tensor ? in_plan == KernelTypes::Tensor : is_number(in_plan);
}

void check_value(const bpte::Value& value, const pte::EValue& in_plan, const Place& place, Findings& f) {
  f.check(may_be(in_plan.val_type(), value.val_type()), "B5", place, "is a ", EnumNameValueUnion(value.val_type()),
          ", but in the program it is a ", EnumNameKernelTypes(in_plan.val_type()));
  const bpte::Tensor* tensor = value.val_as_Tensor();
  if (!tensor) return;
  const auto bytes = check_layout(layout_of(*tensor), {"B6", "B6", "B6", "B6", "B6"}, place, f);
  if (bytes)
    f.check(tensor->data()->size() >= *bytes, "B7", place, "has ", tensor->data()->size(),
            " bytes of data, but its sizes are those of ", *bytes);
}

void check_values(const Values& values, const pte::ExecutionPlan& plan, std::span<const std::int32_t> indices,
                  std::string_view kind, const Place& test, Findings& f) {
  if (!f.check(values.size() == indices.size(), "B4", test, "has ", values.size(), " ", kind, "s, but the method has ",
               indices.size()))
    return;
  for (std::uint32_t i = 0; i < values.size(); ++i)
    check_value(*values.Get(i), *plan.values()->Get(static_cast<std::uint32_t>(indices[i])), test.in(kind, i), f);
}

void check_suite(const bpte::BundledMethodTestSuite& suite, const Methods& methods, const Place& place, Findings& f) {
  const std::string_view name = text_of(suite.method_name());
  const pte::ExecutionPlan* plan = methods.find(name);
  if (!f.check(plan != nullptr, "B3", place, "is of method ", Quoted{name}, ", which the program does not have"))
    return;
  for (std::uint32_t i = 0; i < suite.test_cases()->size(); ++i) {
    const bpte::BundledMethodTestCase& test = *suite.test_cases()->Get(i);
    const Place here = place.in("case", i);
    check_values(*test.inputs(), *plan, items(plan->inputs()), "input", here, f);
    if (test.expected_outputs()->size() > 0)
      check_values(*test.expected_outputs(), *plan, items(plan->outputs()), "output", here, f);
  }
}

}  // namespace

void check(const BundleView& bundle, const ProgramView& program, Workspace& workspace, Findings& f) {
  const Workspace::Scope scope(workspace);
  const Methods methods(program, workspace);
  if (!has_room(workspace, f)) return;
  const auto& suites = *bundle.tables->method_test_suites();
  for (std::uint32_t i = 0; i < suites.size(); ++i) check_suite(*suites.Get(i), methods, {nullptr, "suite", i}, f);
}

}  // namespace assay::format
