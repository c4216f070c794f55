#include <benchmark/benchmark.h>

#include <cstdlib>

#include "optimized/prepare/pte/make.h"
#include "reference/program/build.h"
#include "reference/program/memory.h"

// What the optimized runtime adds to the steps of a method: a chain of sums of one element each, executed, and the same
// steps called in a loop.
namespace assay::bench {
namespace {

constexpr std::int64_t steps = 1000;

Bytes chain_of_sums() {
  ProgramBuilder builder;
  PlanBuilder plan = builder.method();
  const auto x = plan.tensor(DType::float32, {1}), sum = plan.planned(DType::float32, {1});
  const auto other = plan.constant(DType::float32, {1}, builder.constant(Bytes(4)));
  plan.plan().inputs = {x}, plan.plan().outputs = {sum};
  for (std::int64_t i = 0; i < steps; ++i) plan.add_tensors(i == 0 ? x : sum, other, sum);
  return builder.bytes();
}

// A method in memory of its own.
class Chain {
 public:
  Chain() {
    const Bytes bytes = chain_of_sums();
    std::ranges::copy(bytes, file_.bytes().begin());
    format::Workspace counting;
    optimized::Program::open(file_.bytes(), {}, {}, counting, fault_);
    AlignedMemory checking(counting.most());
    format::Workspace workspace(checking.bytes());
    program_ = optimized::Program::open(file_.bytes(), {}, {}, workspace, fault_);
    if (!program_) std::abort();
    const pte::ExecutionPlan& plan = *program_->method("forward");
    AlignedMemory making(optimized::workspace_size(*program_, plan));
    format::Workspace tables(making.bytes());
    optimized::Sizes sizes;
    optimized::make_method(*program_, plan, {}, tables, nullptr, sizes, fault_);
    prepared_ = AlignedMemory(sizes.prepared), arena_ = AlignedMemory(sizes.arena);
    shared_ = AlignedMemory(sizes.shared), scratch_ = AlignedMemory(sizes.scratch);
    const optimized::Memories memories{prepared_.bytes(), arena_.bytes(), shared_.bytes(), scratch_.bytes()};
    method = optimized::make_method(*program_, plan, {}, tables, &memories, sizes, fault_);
    if (!method || !method->set_input(0, method->input(0), fault_)) std::abort();
  }

  optimized::Method* method;

 private:
  AlignedMemory file_{chain_of_sums().size()}, prepared_{0}, arena_{0}, shared_{0}, scratch_{0};
  optimized::Fault fault_;
  std::optional<optimized::Program> program_;
};

void execute(benchmark::State& state) {
  Chain chain;
  optimized::Fault fault;
  for (auto _ : state)
    if (!chain.method->execute(fault)) std::abort();
  state.counters["step"] = benchmark::Counter(
      static_cast<double>(steps), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(execute);

void call_in_a_loop(benchmark::State& state) {
  Chain chain;
  optimized::Fault fault;
  optimized::Execution run;
  run.fault = &fault;
  for (auto _ : state)
    for (const optimized::Step& step : chain.method->steps())
      if (!step.run(step, run)) std::abort();
  state.counters["step"] = benchmark::Counter(
      static_cast<double>(steps), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(call_in_a_loop);

}  // namespace
}  // namespace assay::bench

BENCHMARK_MAIN();
