#include <gmock/gmock-matchers.h>

#include <cstdlib>
#include <new>
#include <thread>

#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"
#include "tests/support/golden.h"
#include "tests/support/methods.h"

// Faults that do not come from the bytes of a program: missing memory, methods that run at the same time, calls from
// within calls.

namespace {

// The number of allocations of this thread that succeed before one fails; below 0: none fails.
thread_local assay::Int allocations_left = -1;

void* allocated(std::size_t bytes) noexcept {
  if (allocations_left >= 0 && allocations_left-- == 0) return nullptr;
  return std::malloc(bytes > 0 ? bytes : 1);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* memory = allocated(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocated(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace assay {
namespace runtime_faults_test {

namespace fs = std::filesystem;
using testing::ElementsAre;

// Calls `run` with the n-th allocation failing, for each n until no allocation fails. `run` returns whether it was
// refused for lack of memory.
template <class F>
void with_each_allocation_failing(F run) {
  for (Int n = 0;; ++n) {
    allocations_left = n;
    const bool refused = run();
    const bool reached = std::exchange(allocations_left, -1) < 0;
    ASSERT_EQ(refused, reached) << "allocation " << n;
    if (!reached) return;
    ASSERT_LT(n, 1'000'000);
  }
}

// The result of f while no allocation fails.
template <class F>
auto uncounted(F f) {
  const Int left = std::exchange(allocations_left, -1);
  auto made = f();
  allocations_left = left;
  return made;
}

// Whether the request was refused for lack of memory. Any other fault is an error.
bool for_want_of_memory(const std::vector<Fault>& faults) {
  return uncounted([&] {
    for (const Fault& f : faults) EXPECT_EQ(f.rule, "limits.memory") << f.place << ": " << f.message;
    return !faults.empty();
  });
}
bool for_want_of_memory(const Refusal& refusal) { return refusal && for_want_of_memory(std::vector<Fault>{*refusal}); }

class WithoutMemory : public testing::TestWithParam<std::string> {
 protected:
  WithoutMemory() {
    const fs::path folder = golden_folder() / "programs" / GetParam();
    calls_ = hosts::read_calls(folder / "calls.json", {});
    program_ = files::open_file(folder / "program.pte", {});
    data_ = files::open_data_files(calls_.data, {});
  }

  hosts::ProgramCalls calls_;
  File program_;
  std::vector<File> data_;
};

TEST_P(WithoutMemory, LoadingIsRefused) {
  with_each_allocation_failing([&] {
    auto data = uncounted([&] { return data_; });
    auto options = uncounted([] { return RuntimeOptions(); });
    return for_want_of_memory(LoadedProgram::load(program_, std::move(data), std::move(options)).faults);
  });
}

TEST_P(WithoutMemory, AMethodIsRefused) {
  const LoadedProgram program = *LoadedProgram::load(program_, data_);
  with_each_allocation_failing([&] { return for_want_of_memory(program.method(calls_.calls[0].method).faults); });
}

TEST_P(WithoutMemory, AnExecutionIsRefusedAndTheNextRuns) {
  const hosts::ProgramCall& call = calls_.calls[0];
  Result<Method> ready = LoadedProgram::load(program_, data_)->method(call.method);
  Method& method = *ready;
  with_each_allocation_failing([&] {
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
      if (for_want_of_memory(method.set_input(i, call.inputs[i]))) return true;
    return for_want_of_memory(method.execute());
  });
  hosts::Host host(hosts::valid_program(program_, data_));
  EXPECT_TRUE(hosts::run_call(host, call).agrees());
  for (std::size_t i = 0; i < call.outputs->size(); ++i)
    EXPECT_TRUE(files::compare(*method.output(i), (*call.outputs)[i], call.tolerance).agrees());
}

INSTANTIATE_TEST_SUITE_P(Runtime, WithoutMemory,
                         testing::Values("identity", "mlp", "map_rows", "cond", "tensor_lists", "dynamic_views",
                                         "delegate_segment", "external_constants", "symbolic_numbers"),
                         [](const auto& test) { return test.param; });

// state = state + 1, out = state, for a state that all methods share.
ProgramBuilder counting() {
  ProgramBuilder program;
  const std::uint32_t ones = program.constant(bytes_of({1, 1}));
  for (const char* name : {"first", "second"}) {
    PlanBuilder plan = program.method(name);
    const auto state = plan.planned(float32, {2}, 2), out = plan.planned(float32, {2}, 1);
    plan.extra(state).fully_qualified_name = "state";
    plan.plan().outputs = {out};
    plan.add_tensors(state, plan.constant(float32, {2}, ones), state);
    plan.add_tensors(state, state, out);
  }
  return program;
}

constexpr int many = 200;

void run_many(const LoadedProgram& program, const std::string& name) {
  Method method = std::move(*program.method(name));
  for (int i = 0; i < many; ++i) {
    EXPECT_FALSE(method.execute());
    EXPECT_TRUE(method.output(0));
  }
}

TEST(RuntimeThreads, MethodsOfOneProgramRunAtTheSameTime) {
  const LoadedProgram program = loaded(counting());
  std::thread other([&] { run_many(program, "second"); });
  run_many(program, "first");
  other.join();
}

TEST(RuntimeThreads, ProgramsOfOneBudgetRunAtTheSameTime) {
  RuntimeOptions options;
  const Int before = options.budget.left().bytes;
  {
    const LoadedProgram one = loaded(counting(), options), two = loaded(counting(), options);
    std::thread other([&] { run_many(two, "first"); });
    run_many(one, "first");
    other.join();
  }
  EXPECT_EQ(options.budget.left().bytes, before) << "all of it came back";
}

// A listener that calls back into the running method.
struct Meddler final : Listener, Delegate {
  Method* method = nullptr;
  std::vector<std::string> rules;

  void meddle() {
    Bytes memory(8);
    for (const Refusal& refused : {method->execute(), method->step(), method->reset(),
                                   method->set_input(0, floats({1, 2})), method->set_output(0, memory)})
      rules.push_back(rule(refused));
  }
  void instruction_done(const Method&, const Event&) override { meddle(); }
  std::size_t inputs() const override { return 0; }
  std::size_t outputs() const override { return 0; }
  void execute(std::span<Value>) override { meddle(); }
};

TEST(RuntimeReentrancy, AListenerCannotChangeTheMethod) {
  Meddler meddler;
  Method method = ready(Doubling().program);
  meddler.method = &method;
  method.listen(&meddler);
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(meddler.rules, ElementsAre("R6", "R6", "R6", "R6", "R6"));
  EXPECT_THAT(values(method), ElementsAre(2, 4));
}

TEST(RuntimeReentrancy, ADelegateCannotChangeTheMethod) {
  Doubling d;
  d.plan.delegate("Meddler", pte::DataLocation::SEGMENT, d.program.segment({}));
  d.plan.delegate_call(0, {});
  Meddler* meddler = nullptr;
  RuntimeOptions options;
  options.backends["Meddler"] = [&](const DelegateSource&) {
    auto made = std::make_unique<Meddler>();
    meddler = made.get();
    return made;
  };
  Method method = ready(d.program, options);
  meddler->method = &method;
  EXPECT_EQ(rule(method.set_input(0, floats({1, 2}))), "");
  EXPECT_EQ(rule(method.execute()), "");
  EXPECT_THAT(meddler->rules, ElementsAre("R6", "R6", "R6", "R6", "R6"));
  EXPECT_THAT(values(method), ElementsAre(2, 4));
}

// Two methods of one program; one runs the other.
TEST(RuntimeReentrancy, ADelegateMayRunAnotherMethod) {
  struct Runs final : Delegate {
    Method* other = nullptr;
    std::size_t inputs() const override { return 0; }
    std::size_t outputs() const override { return 0; }
    void execute(std::span<Value>) override {
      if (const Refusal refused = other->execute()) throw *refused;
    }
  };
  ProgramBuilder program = counting();
  PlanBuilder plan = program.method("both");
  plan.delegate("Runs", pte::DataLocation::SEGMENT, program.segment({}));
  plan.delegate_call(0, {});
  Runs* runs = nullptr;
  RuntimeOptions options;
  options.backends["Runs"] = [&](const DelegateSource&) {
    auto made = std::make_unique<Runs>();
    runs = made.get();
    return made;
  };
  const LoadedProgram p = loaded(program, options);
  Method first = std::move(*p.method("first")), both = std::move(*p.method("both"));
  runs->other = &first;
  EXPECT_EQ(rule(both.execute()), "");
  EXPECT_EQ(rule(both.execute()), "");
  EXPECT_THAT(values(first), ElementsAre(4, 4));
}

}  // namespace runtime_faults_test
}  // namespace assay
