#include "conformance/cases/shrink.h"

#include <gmock/gmock-matchers.h>

// Searches for the smallest failing case, for faults whose smallest case is known.
namespace assay {
namespace shrink_test {

using cases::CaseId;
using cases::Mutation;
using Kind = Mutation::Kind;

// Whether a case shows the planted fault.
using Fails = bool (*)(const CaseId&);

bool has(const CaseId& id, Kind kind, Int at_least) {
  return std::ranges::any_of(id.mutations, [&](const Mutation& m) { return m.kind == kind && m.n[1] >= at_least; });
}

struct Search {
  CaseId smallest;
  int candidates = 0;
};

Search search(const CaseId& failing, Fails fails) {
  Search found{failing};
  cases::Shrinker shrinker(failing);
  for (auto candidate = shrinker.next(); candidate; candidate = shrinker.next()) {
    ++found.candidates;
    const bool as_well = fails(*candidate);
    if (as_well) found.smallest = *candidate;
    shrinker.answer(as_well);
  }
  return found;
}

const std::vector<Mutation> many{{Kind::dtype, {4, 7, 0}},
                                 {Kind::sizes, {3, 900, 0}},
                                 {Kind::values, {1, 2, 77}},
                                 {Kind::layout, {0, 5, 0}},
                                 {Kind::rank, {2, 0, 0}}};
const CaseId failing{"aten::add.out", 0x1234abcd, many};

TEST(TheSearchForTheSmallestCase, DropsMutationsAndMakesNumbersSmaller) {
  const Search found = search(failing, [](const CaseId& id) { return has(id, Kind::sizes, 33); });
  EXPECT_EQ(found.smallest, (CaseId{failing.operator_name, failing.call, {{Kind::sizes, {0, 33, 0}}}}));
}

TEST(TheSearchForTheSmallestCase, KeepsTheTwoMutationsThatOnlyFailTogether) {
  const Search found =
      search(failing, [](const CaseId& id) { return has(id, Kind::dtype, 7) && has(id, Kind::layout, 1); });
  EXPECT_THAT(found.smallest.mutations,
              testing::ElementsAre(Mutation{Kind::dtype, {0, 7, 0}}, Mutation{Kind::layout, {0, 1, 0}}));
}

TEST(TheSearchForTheSmallestCase, ReturnsTheRecordedCallIfItFails) {
  EXPECT_THAT(search(failing, [](const CaseId&) { return true; }).smallest.mutations, testing::IsEmpty());
}

TEST(TheSearchForTheSmallestCase, KeepsACaseThatNoSimplerCaseReplaces) {
  const Search found = search(failing, [](const CaseId&) { return false; });
  EXPECT_EQ(found.smallest, failing);
  EXPECT_GT(found.candidates, 0);
}

TEST(TheSearchForTheSmallestCase, TriesAtMost60Candidates) {
  CaseId long_case = failing;
  for (Int i = 0; i < 1000; ++i) long_case.mutations.push_back({Kind::integer, {i, i, i}});
  EXPECT_EQ(search(long_case, [](const CaseId&) { return false; }).candidates, 60);
}

}  // namespace shrink_test
}  // namespace assay
