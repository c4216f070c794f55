#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "format/check.h"
#include "reference/program/build.h"
#include "reference/program/memory.h"

// How fast files are found valid: located, opened and checked, in memory.
namespace assay {
namespace {

// A program that adds one of its constants after the other to its input.
Bytes program_of(int constants, Int bytes_of_each) {
  ProgramBuilder builder;
  PlanBuilder plan = builder.method();
  const auto elements = static_cast<std::int32_t>(bytes_of_each / 4);
  const auto x = plan.tensor(DType::float32, {elements}), sum = plan.planned(DType::float32, {elements});
  plan.plan().inputs = {x}, plan.plan().outputs = {sum};
  for (int i = 0; i < constants; ++i) {
    const auto data = builder.constant(Bytes(static_cast<std::size_t>(bytes_of_each)));
    plan.add_tensors(i == 0 ? x : sum, plan.constant(DType::float32, {elements}, data), sum);
  }
  return builder.bytes();
}

// The whole check of a file, from its bytes to the last rule. The tables are checked in place, because the file does
// not change.
void locate_open_check(std::span<const std::byte> file, AlignedMemory& memory) {
  format::Findings none([](void*, const format::Finding&) -> bool { std::abort(); }, nullptr);
  const auto extent = format::locate_program(file.first(format::head_bytes), file.size(), none);
  const auto tables = file.first(extent->tables_size);
  const auto program = format::open_program(tables, file.subspan(extent->segments_begin, extent->segments_size), none);
  format::Workspace counting;
  format::check(*program, {}, counting, none);
  format::Workspace workspace(memory.bytes().first(counting.most()));
  format::check(*program, {}, workspace, none);
}

void measure(benchmark::State& state, const Bytes& bytes) {
  AlignedMemory file(bytes.size());
  AlignedMemory workspace(bytes.size());
  std::ranges::copy(bytes, file.bytes().begin());
  for (auto _ : state) locate_open_check(file.bytes(), workspace);
  const auto program = open_program(borrowed(bytes));
  format::Workspace counting;
  format::Findings none([](void*, const format::Finding&) { return true; }, nullptr);
  format::check(program->view(), {}, counting, none);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
  state.counters["file"] = static_cast<double>(bytes.size());
  state.counters["workspace"] = static_cast<double>(counting.most());
}

void program_of_10_kB(benchmark::State& state) { measure(state, program_of(38, 64)); }
void program_of_1_MB_of_tables(benchmark::State& state) { measure(state, program_of(3500, 0)); }
void constants_of_100_MB(benchmark::State& state) { measure(state, program_of(100, 1 << 20)); }

// Validates as the reference does: with a copy of the tables and a table of names.
void reference_validates_100_MB(benchmark::State& state) {
  const Bytes file = program_of(100, 1 << 20);
  for (auto _ : state) benchmark::DoNotOptimize(validate(*open_program(borrowed(file))));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * file.size()));
}

BENCHMARK(program_of_10_kB)->Unit(benchmark::kMicrosecond);
BENCHMARK(program_of_1_MB_of_tables)->Unit(benchmark::kMicrosecond);
BENCHMARK(constants_of_100_MB)->Unit(benchmark::kMicrosecond);
BENCHMARK(reference_validates_100_MB)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace assay

BENCHMARK_MAIN();
