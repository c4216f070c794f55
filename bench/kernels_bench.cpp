#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "bench/peak.h"
#include "optimized/kernels/convolution.h"
#include "optimized/kernels/matmul.h"

// How near products and convolutions of the models' shapes come to the roofline of one core: the best of their runs,
// beside the peak that was measured right before and after, and what its bandwidth lets through where all that a kernel
// reads and writes goes by once. Each instruction set of this machine has its own lines.
namespace assay {
namespace {

using namespace kernels;

struct FreeAligned {
  void operator()(float* p) const { std::free(p); }
};
using Memory = std::unique_ptr<float[], FreeAligned>;

Memory random_floats(std::size_t n) {
  static std::mt19937 generator;
  std::uniform_real_distribution<float> any(-1, 1);
  Memory memory(static_cast<float*>(std::aligned_alloc(64, (n * sizeof(float) + 127) / 64 * 64)));
  std::generate_n(memory.get(), n, [&] { return any(generator); });
  return memory;
}

// Runs a kernel as often as the benchmark requires. The rate counts two floating-point operations for each product.
template <class Run>
void measure(benchmark::State& state, InstructionSet set, std::size_t products, std::size_t floats, const Run& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9, peak = bench::peak_flops(set);
  for (auto _ : state) {
    const auto begin = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  peak = std::max(peak, bench::peak_flops(set));
  const double operations = 2 * static_cast<double>(products), bytes = static_cast<double>(floats * sizeof(float));
  const double bandwidth = bench::peak_bandwidth(set, floats * sizeof(float));
  const double roofline = std::min(peak, operations / bytes * bandwidth);
  state.counters["GFLOP/s"] = operations / best / 1e9;
  state.counters["peak"] = peak / 1e9;
  state.counters["GB/s"] = bandwidth / 1e9;
  state.counters["roofline"] = roofline / 1e9;
  state.counters["share"] = operations / best / roofline;
}

struct Matmul {
  const char* model;
  std::size_t m, n, k;
};
constexpr Matmul matmuls[] = {
    {"vit_b_16", 197, 2304, 768}, {"vit_b_16", 197, 768, 768}, {"vit_b_16", 197, 3072, 768},
    {"vit_b_16", 197, 768, 3072}, {"vit_b_16", 197, 197, 64},  {"vit_b_16", 197, 64, 197},
    {"decoder", 8, 864, 288},     {"decoder", 8, 1536, 288},   {"decoder", 8, 288, 768},
    {"decoder", 8, 32000, 288},   {"decoder", 128, 864, 288},  {"decoder", 128, 1536, 288},
    {"decoder", 128, 288, 768},   {"decoder", 1, 864, 288},    {"decoder", 1, 1536, 288},
    {"decoder", 1, 288, 768},     {"decoder", 1, 32000, 288},  {"resnet50", 1, 1000, 2048},
};

void run_matmul(benchmark::State& state, InstructionSet set, const Matmul& c) {
  const Memory a = random_floats(c.m * c.k), b = random_floats(c.n * c.k), bias = random_floats(c.n),
               out = random_floats(c.m * c.n), packed = random_floats(packed_floats(set, c.k, c.n));
  const PackedMatrix matrix = pack(set, b.get(), c.k, c.n, 1, c.k, packed.get());
  measure(state, set, c.m * c.n * c.k, c.m * c.k + c.n * c.k + c.m * c.n,
          [&] { matmul(a.get(), c.k, c.m, matrix, bias.get(), out.get(), c.n); });
}

struct Layer {
  const char* model;
  std::size_t size, inputs, outputs, kernel, stride = 1, groups = 1;
  bool channels_first = false;
  Activation activation = Activation::clamp;
};
constexpr Layer layers[] = {
    {"mobilenet_v2", 224, 3, 32, 3, 2, 1, true},
    {"mobilenet_v2", 112, 32, 16, 1},
    {"mobilenet_v2", 112, 16, 96, 1},
    {"mobilenet_v2", 56, 96, 24, 1},
    {"mobilenet_v2", 56, 24, 144, 1},
    {"mobilenet_v2", 28, 32, 192, 1},
    {"mobilenet_v2", 28, 192, 32, 1},
    {"mobilenet_v2", 14, 64, 384, 1},
    {"mobilenet_v2", 14, 384, 64, 1},
    {"mobilenet_v2", 14, 96, 576, 1},
    {"mobilenet_v2", 14, 576, 96, 1},
    {"mobilenet_v2", 7, 160, 960, 1},
    {"mobilenet_v2", 7, 960, 320, 1},
    {"mobilenet_v2", 7, 320, 1280, 1},
    {"mobilenet_v2", 112, 1, 1, 3, 1, 32},
    {"mobilenet_v2", 112, 1, 1, 3, 2, 96},
    {"mobilenet_v2", 56, 1, 1, 3, 1, 144},
    {"mobilenet_v2", 28, 1, 1, 3, 1, 192},
    {"mobilenet_v2", 14, 1, 1, 3, 1, 576},
    {"mobilenet_v2", 7, 1, 1, 3, 1, 960},
    {"mobilenet_v3_small", 224, 3, 16, 3, 2, 1, true, Activation::hardswish},
    {"mobilenet_v3_small", 112, 1, 1, 3, 2, 16},
    {"mobilenet_v3_small", 56, 16, 16, 1},
    {"mobilenet_v3_small", 56, 16, 72, 1},
    {"mobilenet_v3_small", 56, 1, 1, 3, 2, 72},
    {"mobilenet_v3_small", 28, 1, 1, 5, 2, 96, false, Activation::hardswish},
    {"mobilenet_v3_small", 14, 1, 1, 5, 1, 240, false, Activation::hardswish},
    {"mobilenet_v3_small", 7, 1, 1, 5, 1, 576, false, Activation::hardswish},
    {"mobilenet_v3_small", 28, 24, 88, 1},
    {"mobilenet_v3_small", 14, 40, 240, 1, 1, 1, false, Activation::hardswish},
    {"mobilenet_v3_small", 14, 240, 40, 1},
    {"mobilenet_v3_small", 7, 96, 576, 1, 1, 1, false, Activation::hardswish},
    {"resnet18", 224, 3, 64, 7, 2, 1, true},
    {"resnet18", 56, 64, 64, 3},
    {"resnet18", 56, 64, 128, 3, 2},
    {"resnet18", 28, 128, 128, 3},
    {"resnet18", 14, 256, 256, 3},
    {"resnet18", 7, 512, 512, 3},
    {"resnet50", 56, 64, 64, 1},
    {"resnet50", 56, 64, 256, 1},
    {"resnet50", 56, 256, 64, 1},
    {"resnet50", 56, 256, 512, 1, 2},
    {"resnet50", 28, 128, 512, 1},
    {"resnet50", 28, 512, 128, 1},
    {"resnet50", 14, 256, 1024, 1},
    {"resnet50", 14, 1024, 256, 1},
    {"resnet50", 7, 512, 2048, 1},
    {"resnet50", 7, 2048, 512, 1},
    {"vit_b_16", 224, 3, 768, 16, 16, 1, true},
};

std::string shape(const Layer& c) {
  const auto text = [](std::size_t n) { return std::to_string(n); };
  return text(c.size) + "x" + text(c.size) + "x" + text(c.inputs * c.groups) + " to " + text(c.outputs * c.groups) +
         (c.groups > 1 ? " depthwise " : " ") + text(c.kernel) + "x" + text(c.kernel) +
         (c.stride > 1 ? " stride " + text(c.stride) : "");
}

void run_layer(benchmark::State& state, InstructionSet set, const Layer& c) {
  const ConvolutionAxis axis{c.kernel, c.stride, c.kernel == 16 ? 0 : c.kernel / 2};
  const Convolution convolution{set, c.groups, c.inputs, c.outputs, axis, axis};
  const std::size_t channels = c.groups * c.inputs, outputs = c.groups * c.outputs, plane = c.kernel * c.kernel,
                    side = axis.results(c.size, false), weights = outputs * c.inputs * plane;
  const Memory in = random_floats(c.size * c.size * channels), weight = random_floats(weights),
               bias = random_floats(outputs), out = random_floats(side * side * outputs),
               packed = random_floats(packed_floats(convolution));
  const Images images{in.get(), 1, c.size, c.size, channels, c.channels_first};
  const Memory scratch = random_floats(scratch_floats(convolution, images));
  pack(convolution, weight.get(), {c.inputs * plane, plane, c.kernel, 1}, nullptr, packed.get());
  const Epilogue epilogue{.activation = c.activation, .low = 0, .high = 6};
  measure(state, set, side * side * weights, c.size * c.size * channels + weights + side * side * outputs, [&] {
    convolve(convolution, images, packed.get(), bias.get(), out.get(), outputs, scratch.get(), epilogue);
  });
}

void register_all(InstructionSet set) {
  for (const Matmul& c : matmuls) {
    const std::string name = std::string(traits(set).name) + " " + c.model + " " + std::to_string(c.m) + "x" +
                             std::to_string(c.k) + " by " + std::to_string(c.k) + "x" + std::to_string(c.n);
    benchmark::RegisterBenchmark(name.c_str(), [set, c](benchmark::State& state) { run_matmul(state, set, c); });
  }
  for (const Layer& c : layers)
    benchmark::RegisterBenchmark((std::string(traits(set).name) + " " + c.model + " " + shape(c)).c_str(),
                                 [set, c](benchmark::State& state) { run_layer(state, set, c); });
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  for (std::size_t i = 0; i < std::size(assay::kernels::instruction_sets); ++i)
    if (const auto set = static_cast<assay::kernels::InstructionSet>(i); assay::kernels::is_supported(set))
      assay::register_all(set);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
