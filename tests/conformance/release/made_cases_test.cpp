// golden/operators/made_cases.txt has the cases that the program made_cases makes, and the reference answers them.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "conformance/cases/aimed_cases.h"
#include "conformance/cases/call_features.h"
#include "conformance/cases/covering.h"
#include "conformance/cases/host_call.h"
#include "conformance/cases/size_cases.h"
#include "tests/support/corpus.h"
#include "tests/support/faulty_kernels.h"

namespace assay {
namespace made_cases_test {

TEST(MadeCases, AreThoseOfTheProgram) {
  for (const cases::RecordedCalls* calls : corpus().matching("aten::relu.out,aten::mm.out,aten::avg_pool1d.out")) {
    const std::string_view op = calls->op().name;
    const cases::Covering covering = cases::covering_of(corpus(), *calls);
    std::set<std::string> made, kept;
    const std::vector<cases::CaseId> of_sizes = cases::size_cases(corpus(), *calls);
    for (const cases::CaseId& id : of_sizes) made.insert(cases::to_text(id));
    for (const cases::CaseId& id : cases::long_cases(corpus(), *calls)) made.insert(cases::to_text(id));
    for (const cases::CaseId& id : cases::thinned(corpus(), *calls, covering.cases, of_sizes))
      made.insert(cases::to_text(id));
    for (const cases::CaseId& id : corpus().made_cases(op)) kept.insert(cases::to_text(id));
    EXPECT_EQ(made, kept) << "run made_cases again, for " << op;
    EXPECT_TRUE(corpus().coverage(op).starts_with(std::to_string(covering.coverage.covered))) << op;
  }
}

TEST(MadeCases, HaveThePropertiesThatAreAimedAt) {
  for (const cases::RecordedCalls* calls : corpus().matching("aten::topk.values,aten::glu.out")) {
    const std::vector<cases::CaseId> kept = corpus().made_cases(calls->op().name),
                                     aimed = cases::aimed_cases(corpus(), *calls);
    EXPECT_GE(aimed.size(), 4u) << calls->op().name;
    for (const cases::CaseId& id : aimed)
      EXPECT_NE(std::ranges::find(kept, id), kept.end()) << "run made_cases again, for " << cases::to_text(id);
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

// The number of made cases in which a kernel with this mistake gives a clearly different answer.
std::size_t cases_that_show(std::string_view op, const std::function<void(faulty::Kernel&)>& mistake) {
  std::size_t shown = 0;
  for (const cases::CaseId& id : corpus().made_cases(op)) {
    cases::Case c = corpus().make(id);
    cases::forget_outs(*c.op, c.arguments);
    faulty::Kernel right(*c.op, c.arguments), wrong(*c.op, c.arguments);
    if (!right.run() || !right.has_numbers()) continue;
    mistake(wrong);
    const Array<Real> a = read<Real>(right.out()), b = read<Real>(wrong.out());
    const auto differ = [](Real x, Real y) { return std::fabs(x - y) > 1e-2 * (1 + std::fabs(x)); };
    shown += !std::ranges::equal(a.data, b.data, std::not_fn(differ));
  }
  return shown;
}

TEST(MadeCases, ShowARestBehindTheSharesOfThreads) {
  for (const char* op : {"aten::mul.out", "aten::add.out", "aten::where.self_out", "aten::clamp.Tensor_out"}) {
    const auto leaves_rest = [](faulty::Kernel& k) {
      if (!k.run() || k.out().rank() != 1 || k.out().count() <= 32768) return;
      for (const Value& v : k.arguments())
        if (const Tensor* t = std::get_if<Tensor>(&v); t && t->sizes != k.out().sizes) return;
      const Int written = k.out().count() / 4 * 4;
      faulty::replace(k.out(), [&](Int at, Real right) { return at < written ? right : 12345; });
    };
    EXPECT_GE(cases_that_show(op, leaves_rest), 2u) << op;
  }
}

TEST(MadeCases, ShowACarryFromTheLastBlockOnly) {
  for (const Int block : {256, 512}) {
    const auto carries_one_block = [&](faulty::Kernel& k) {
      faulty::along(k, k.integer("dim"), [&](std::vector<Real>& row) {
        Real before = 0, sum = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
          if (i > 0 && i % static_cast<std::size_t>(block) == 0) before = std::exchange(sum, 0);
          sum += row[i], row[i] = before + sum;
        }
      });
    };
    EXPECT_GE(cases_that_show("aten::cumsum.out", carries_one_block), 4u) << block;
  }
}

TEST(MadeCases, ShowAZeroPointThatIsAddedBeforeTheRounding) {
  for (const std::string type : {"per_tensor.out", "per_tensor.Tensor_out", "per_channel.out"}) {
    const std::string op = "quantized_decomposed::quantize_" + type;
    std::size_t shown = 0;
    for (const cases::CaseId& id : corpus().made_cases(op)) {
      if (id.mutations[0].kind != cases::Mutation::Kind::halves) continue;
      cases::Case c = corpus().make(id);
      cases::forget_outs(*c.op, c.arguments);
      faulty::Kernel right(*c.op, c.arguments);
      ASSERT_TRUE(right.run()) << cases::to_text(id);
      if (id.mutations[0].n[0] != 1) continue;
      // Half of the scale is code 0 + 1. A kernel that adds the zero point first rounds 1.5 to 2.
      const Real scale = std::ldexp(Real{1}, static_cast<int>(id.mutations[0].n[1]));
      EXPECT_EQ(right.numbers("input")[0], scale / 2) << cases::to_text(id);
      shown += read<Real>(right.out())[0] == 1;
    }
    EXPECT_GE(shown, 4u) << op;
  }
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
