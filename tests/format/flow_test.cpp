#include <gmock/gmock-matchers.h>

#include <set>

#include "conformance/corrupt/cases.h"
#include "conformance/files/file.h"
#include "format/flow.h"
#include "tests/support/program_folders.h"
#include "tests/support/rules_shown.h"

// For each rule of data flow: a program at its boundary that keeps it, and a program that breaks it. Recorded programs
// keep all of them.
namespace assay {
namespace flow_test {

using Index = PlanBuilder::Index;
using corrupt::flow_cases, corrupt::FlowCase;

TEST(Flow, EachRuleHasAProgramAtItsBoundaryAndOneThatBreaksIt) {
  for (const FlowCase& c : flow_cases()) {
    corrupt::Planned meets, breaks;
    c.meets(meets), c.breaks(breaks);
    const std::string_view rule = c.rule->id;
    SCOPED_TRACE(concat(rule, ", ", c.what));
    for (const Fault& f : meets.faults()) ADD_FAILURE() << f.rule << ", " << f.place << ": " << f.message;
    const std::vector<Fault> broken = breaks.faults();
    const auto told = std::ranges::find(broken, rule, &Fault::rule);
    ASSERT_NE(told, broken.end());
    EXPECT_THAT(told->place, testing::AnyOf(testing::HasSubstr(" of forward"), "method forward"));
    show_case(rule, c.what, *told);
  }
}

TEST(Flow, NamesTheInstructionThatWritesOver) {
  corrupt::Planned p;
  const Index a = p.at(32), b = p.at(44);
  p.relu(p.x, a), p.relu(p.x, b), p.relu(a, p.out);
  const std::vector<Fault> faults = p.faults();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].rule, "T13");
  EXPECT_EQ(faults[0].place, "instruction 2 of forward, aten::relu.out");
  EXPECT_EQ(faults[0].message, concat("uses value ", a, ", whose memory is written over by instruction 1 of forward, ",
                                      "aten::relu.out, on a path to here"));
}

// -- recorded programs ------------------------------------------------------------------------------------------------

TEST(Flow, EachRuleHasACase) {
  std::set<std::string_view> covered;
  for (const FlowCase& c : flow_cases()) covered.insert(c.rule->id);
  EXPECT_EQ(covered, std::set<std::string_view>(std::begin(flow_rules), std::end(flow_rules)));
}

class RecordedFlow : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(RecordedFlow, IsAccepted) {
  const auto program = open_program(files::open_file(GetParam() / "program.pte"));
  ASSERT_TRUE(program);
  for (const Fault& f : faults_of(*program)) ADD_FAILURE() << f.rule << ", " << f.place << ": " << f.message;
}

INSTANTIATE_TEST_SUITE_P(Programs, RecordedFlow, testing::ValuesIn(program_folders()), name_of_folder);

// -- state ------------------------------------------------------------------------------------------------------------

std::vector<Index> state_of(const corrupt::Planned& p) {
  const auto file = open_program(in_memory(p.program.bytes()));
  const auto& plan = *file->tables().execution_plan()->Get(0);
  std::vector<Index> told;
  const auto tell = [](void* all, std::uint32_t v) {
    static_cast<std::vector<Index>*>(all)->push_back(static_cast<Index>(v));
  };
  format::Workspace counting;
  each_state(file->view(), plan, counting, tell, &told);
  std::vector<std::max_align_t> memory(counting.most() / sizeof(std::max_align_t) + 1);
  format::Workspace workspace(std::as_writable_bytes(std::span(memory)));
  each_state(file->view(), plan, workspace, tell, &told);
  return told;
}

TEST(Flow, StateIsReadBeforeItIsWritten) {
  corrupt::Planned p;
  const Index cache = p.at(32), view = p.at(32, {2, 2}), scratch = p.at(48), initial = p.at(64), unread = p.at(80);
  p.plan.at(initial).data_buffer_idx = p.program.initial(corrupt::numbers({1, 2, 3, 4}));
  p.name(unread, "unread");
  p.relu(p.x, scratch), p.plan.add_tensors(cache, initial, p.out);
  p.copy(cache, p.out), p.copy(unread, p.out), p.copy(scratch, p.out);
  ASSERT_TRUE(p.faults().empty());
  EXPECT_THAT(state_of(p), testing::ElementsAre(cache, view, initial));
}

}  // namespace flow_test
}  // namespace assay
