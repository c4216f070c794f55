// golden/operators/made_cases.txt has the cases that the program made_cases makes, and the reference answers them.

#include <gtest/gtest.h>

#include "conformance/cases/call_features.h"
#include "conformance/cases/covering.h"
#include "conformance/cases/host_call.h"
#include "conformance/cases/size_cases.h"
#include "tests/support/corpus.h"

namespace assay {
namespace made_cases_test {

TEST(MadeCases, AreThoseOfTheProgram) {
  for (const cases::RecordedCalls* calls : corpus().matching("aten::relu.out,aten::mm.out,aten::avg_pool1d.out")) {
    const std::string_view op = calls->op().name;
    const cases::Covering covering = cases::covering_of(corpus(), *calls);
    std::set<std::string> made, kept;
    const std::vector<cases::CaseId> of_sizes = cases::size_cases(corpus(), *calls);
    for (const cases::CaseId& id : of_sizes) made.insert(cases::to_text(id));
    for (const cases::CaseId& id : cases::thinned(corpus(), *calls, covering.cases, of_sizes))
      made.insert(cases::to_text(id));
    for (const cases::CaseId& id : corpus().made_cases(op)) kept.insert(cases::to_text(id));
    EXPECT_EQ(made, kept) << "run made_cases again, for " << op;
    EXPECT_TRUE(corpus().coverage(op).starts_with(std::to_string(covering.coverage.covered))) << op;
  }
}

// A tensor has no element and no size of 0, a scalar has no size, and so on; the rules of relu exclude its other
// missing pairs, such as the dtype complex64 with a size.
TEST(MadeCases, NoPairOfReluIsMissing) {
  const cases::Coverage c = cases::covering_of(corpus(), *corpus().matching("aten::relu.out").front()).coverage;
  EXPECT_EQ(c.missing, 0u);
  EXPECT_GT(c.excluded, 0u);
  EXPECT_EQ(corpus().coverage("aten::relu.out"),
            concat(c.covered, " pairs of values are covered, ", c.recorded, " of them in recorded calls; ", c.excluded,
                   " are excluded, 0 missing; ", c.tried, " calls tried"));
}

TEST(CallFeatures, OfTensorsHaveEachKindOfSizesAndLayouts) {
  std::set<std::pair<int, int>> ranks_with_elements;  // by the numbers of their values
  for (const verdict::CallFeatures& features : cases::features_of_tensors())
    ranks_with_elements.emplace(features[2], features[8]);
  EXPECT_EQ(ranks_with_elements.size(), 1u + 5 * 4) << "a scalar has one element; other ranks have each number";
}

// Tests every 16th case; all of them take minutes.
TEST(MadeCases, AreAnswered) {
  std::size_t n = 0;
  for (const cases::RecordedCalls* calls : corpus().matching(""))
    for (const cases::CaseId& id : corpus().made_cases(calls->op().name)) {
      if (n++ % 16 != 0) continue;
      EXPECT_TRUE(cases::host_call(corpus().make(id)).valid()) << cases::to_text(id);
    }
  EXPECT_GT(n, 10'000u);
}

TEST(MadeCases, EachOperatorWithTensorsHasSome) {
  for (const cases::RecordedCalls* calls : corpus().matching("aten::*")) {
    const bool has_tensor = std::ranges::any_of(
        calls->op().arguments, [](const SchemaArgument& a) { return !a.out && a.type.starts_with("Tensor"); });
    EXPECT_TRUE(!has_tensor || !corpus().made_cases(calls->op().name).empty()) << calls->op().name;
  }
}

}  // namespace made_cases_test
}  // namespace assay
