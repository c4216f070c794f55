#include <gmock/gmock-more-matchers.h>

#include "conformance/sandbox/client_memory.h"
#include "optimized/prepare/pte/make.h"
#include "tests/support/methods.h"

// When delegates begin and end, in both runtimes.
namespace assay {
namespace optimized_delegates_test {

using Log = std::vector<std::string>;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

// A backend of delegates without arguments, which log their calls. A delegate whose payload is empty is refused.
constexpr const char* id = "Tells";
constexpr const char* refusal = "D5";

struct Telling final : Delegate {
  Log& log;
  char name;
  Telling(Log& to, char of) : log(to), name(of) { log.push_back(concat("begin ", name)); }
  ~Telling() override { log.push_back(concat("end ", name)); }
  std::size_t inputs() const override { return 0; }
  std::size_t outputs() const override { return 0; }
  void execute(std::span<Value>) override { log.push_back(concat("execute ", name)); }
};

// Makes and executes the method. Returns the rule by which it is refused, or "".
std::string run_in_reference(const ProgramBuilder& program, Log& log) {
  RuntimeOptions options;
  options.backends = {{id, [&log](const DelegateSource& source) -> std::unique_ptr<Delegate> {
                         if (source.payload.empty()) throw Fault(Outcome::invalid, refusal, "");
                         return std::make_unique<Telling>(log, static_cast<char>(source.payload[0]));
                       }}};
  return broken(program, {}, options);
}

void* begin(void* log, const optimized::DelegateSource& source, optimized::Fault& fault) {
  if (source.payload.size() > 1) return nullptr;  // without setting the fault
  if (!source.payload.empty()) return new Telling(*static_cast<Log*>(log), static_cast<char>(source.payload[0]));
  fault.set(Outcome::invalid, refusal, "", "");
  return nullptr;
}
bool execute(void* delegate, std::span<optimized::Value* const>, std::int64_t&, optimized::Fault&) {
  static_cast<Telling*>(delegate)->execute({});
  return true;
}
void end(void* delegate) { delete static_cast<Telling*>(delegate); }

std::string run_in_optimized(const ProgramBuilder& from, Log& log) {
  const Bytes file = from.bytes();
  optimized::Fault fault;
  const sandbox::ClientMemory checks(1 << 20);
  format::Workspace checking(checks.bytes());
  const auto program = optimized::Program::open(file, {}, {}, checking, fault);
  if (!program) return fault.rule;
  const optimized::Backend backend{id, &log, begin, execute, end};
  optimized::Options options;
  options.backends = {&backend, 1};
  const pte::ExecutionPlan& plan = *program->method("forward");
  const sandbox::ClientMemory work(optimized::workspace_size(*program, plan));
  format::Workspace workspace(work.bytes());
  optimized::Sizes sizes;
  optimized::make_method(*program, plan, options, workspace, nullptr, sizes, fault);
  if (fault) return fault.rule;
  const sandbox::ClientMemory prepared(sizes.prepared), arena(sizes.arena), scratch(sizes.scratch);
  const optimized::Memories memories{prepared.bytes(), arena.bytes(), {}, scratch.bytes()};
  optimized::Method* method = optimized::make_method(*program, plan, options, workspace, &memories, sizes, fault);
  if (!method) return fault.rule;
  method->execute(fault);
  method->end();
  return fault.rule;
}

using Run = std::string (*)(const ProgramBuilder&, Log&);

struct Delegating {
  void add(const std::string& payload, const char* backend = id) {
    const auto bytes = std::as_bytes(std::span(payload));
    plan.delegate(backend, pte::DataLocation::SEGMENT, program.segment({bytes.begin(), bytes.end()}));
  }

  ProgramBuilder program;
  PlanBuilder plan = program.method();
  Log log;
};

class Delegates : public testing::TestWithParam<Run>, protected Delegating {};

TEST_P(Delegates, BeginOnceAndInOrderWhetherCalledOrNot) {
  add("a"), add("b");
  plan.delegate_call(1, {}), plan.delegate_call(1, {});
  EXPECT_EQ(GetParam()(program, log), "");
  ASSERT_EQ(log.size(), 6u);
  EXPECT_THAT(Log(log.begin(), log.begin() + 4), ElementsAre("begin a", "begin b", "execute b", "execute b"));
  EXPECT_THAT(Log(log.begin() + 4, log.end()), UnorderedElementsAre("end a", "end b"));
}

TEST_P(Delegates, EndIfALaterOneIsRefused) {
  add("a"), add(""), add("c");
  plan.new_chain();
  EXPECT_EQ(GetParam()(program, log), refusal);
  EXPECT_THAT(log, ElementsAre("begin a", "end a"));
}

// The second delegate has no backend, but the first one is refused before.
TEST_P(Delegates, AreRefusedInOrder) {
  add(""), add("b", "Nobody's");
  plan.new_chain();
  EXPECT_EQ(GetParam()(program, log), refusal);
  EXPECT_THAT(log, testing::IsEmpty());
}

// The method is refused when it is made, before its inputs are found to be missing.
TEST_P(Delegates, NeedABackendWhenTheMethodIsMade) {
  add("a", "Nobody's");
  plan.plan().inputs = {plan.tensor(float32, {2})};
  plan.new_chain();
  EXPECT_EQ(GetParam()(program, log), "D2");
}

INSTANTIATE_TEST_SUITE_P(Of, Delegates, testing::Values(run_in_reference, run_in_optimized),
                         [](const auto& tested) { return std::string(tested.index == 0 ? "Reference" : "Optimized"); });

TEST(OptimizedDelegates, AreRefusedIfTheyDoNotBeginAndSetNoFault) {
  Delegating made;
  made.add("a"), made.add("two");
  made.plan.new_chain();
  EXPECT_EQ(run_in_optimized(made.program, made.log), "D2");
  EXPECT_THAT(made.log, ElementsAre("begin a", "end a"));
}

}  // namespace optimized_delegates_test
}  // namespace assay
