#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "conformance/adapters/optimized/client.h"
#include "conformance/adapters/optimized/step.h"
#include "optimized/api/types.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/convolution_call.h"
#include "optimized/xnnpack/kernels.h"

// How long XNNPACK takes for each convolution and product of some programs, beside the own kernels, which alternate
// with it in short bursts: the shortest time of each. What it cannot do besides is left out of both.
namespace assay::bench {
namespace {

using namespace optimized;

double seconds_of(adapters::LoneStep& step) {
  optimized::Fault fault;
  const auto begin = std::chrono::steady_clock::now();
  if (!step.run(fault)) throw std::runtime_error(fault.message);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// What is compared, and by which operations it is counted.
struct Shape {
  std::string text;
  double operations;
};

Shape shape_of(const optimized::Call& call) {
  const optimized::Tensor& out = *call.arguments.back()->tensor;
  if (call.roles->name == "aten::convolution.out") {
    const auto c = *convolution::fixed_convolution(call);
    const optimized::Tensor& in = call.tensor(0);
    const double operations =
        2 * static_cast<double>(out.count()) * static_cast<double>(c.inputs * c.y.kernel * c.x.kernel);
    return {fmt::format("{}x{}x{} to {}{} {}x{}{}", in.size(2), in.size(3), in.size(1), out.size(1),
                        c.is_depthwise() ? " depthwise"
                        : c.groups > 1   ? fmt::format(" in {} groups", c.groups)
                                         : "",
                        c.y.kernel, c.x.kernel, c.x.stride > 1 ? fmt::format(" stride {}", c.x.stride) : ""),
            operations};
  }
  const std::size_t a = call.roles->name == "aten::addmm.out" ? 1 : 0;
  const std::int64_t k = call.tensor(a).size(call.tensor(a).rank - 1), n = out.size(out.rank - 1), m = out.count() / n;
  return {fmt::format("{}x{} by {}x{}", m, k, k, n), 2 * static_cast<double>(m * k * n)};
}

struct Compared {
  double own, xnnpack, operations;
  std::size_t count = 1;  // the number of such calls in the programs
  double ratio() const { return xnnpack / own; }
};

Compared compare(const optimized::Kernel& own, const optimized::Kernel& other, const optimized::Call& call,
                 double operations) {
  adapters::LoneStep ours(own, call), theirs(other, call);
  Compared c{seconds_of(ours), seconds_of(theirs), operations};
  const auto burst = static_cast<std::size_t>(std::clamp(0.002 / std::min(c.own, c.xnnpack), 2.0, 200.0));
  for (std::size_t round = 0; round < 15; ++round)
    for (const auto& [step, best] : {std::pair(&ours, &c.own), std::pair(&theirs, &c.xnnpack)})
      for (std::size_t i = 0; i < burst; ++i) *best = std::min(*best, seconds_of(*step));
  return c;
}

// The call without what XNNPACK does not do.
bool reduce(optimized::Call& call, optimized::Fusion& fusion) {
  if (call.fusion) {
    fusion = *call.fusion;
    fusion.residual = nullptr;
    if (fusion.activation > kernels::Activation::clamp) fusion.activation = kernels::Activation::none;
    call.fusion = &fusion;
  }
  return call.roles->name == "aten::convolution.out" ? xnnpack::can_convolve(call) : xnnpack::can_multiply(call);
}

void fill(const optimized::Tensor& tensor) {
  static std::mt19937 generator(1);
  std::uniform_real_distribution<float> any(-1, 1);
  std::generate_n(tensor.elements<float>(), tensor.count(), [&] { return any(generator); });
}

void compare_program(const std::string& program, std::map<std::string, Compared>& all) {
  adapters::OptimizedClient client(program, {}, {});
  for (const optimized::Step& step : optimized::method_of(client.method(client.default_method()).method).steps()) {
    const optimized::Kernel* kernel = step.call.roles ? optimized::find_kernel(step.call, {}) : nullptr;
    const std::string_view by = kernel ? kernel->name : "";
    if (by != "convolution_f32" && by != "matmul_f32") continue;
    optimized::Call call = step.call;
    optimized::Fusion fusion;
    const bool is_convolution = by == "convolution_f32";
    if (!reduce(call, fusion)) {
      fmt::print("not compared: {}, instruction {}, {}\n", program, step.instruction, call.roles->name);
      continue;
    }
    const Shape shape = shape_of(call);
    if (const auto found = all.find(shape.text); found != all.end()) {
      ++found->second.count;
      continue;
    }
    fill(call.tensor(call.roles->name == "aten::addmm.out" ? 1 : 0));
    all[shape.text] =
        compare(*kernel, is_convolution ? optimized::convolution_xnnpack_f32 : optimized::matmul_xnnpack_f32, call,
                shape.operations);
  }
}

void print(const std::map<std::string, Compared>& all) {
  double logs = 0;
  std::size_t won = 0, lost = 0;
  std::vector<std::pair<std::string, Compared>> sorted(all.begin(), all.end());
  std::ranges::sort(sorted, {}, [](const auto& c) { return c.second.ratio(); });
  for (const auto& [shape, c] : sorted) {
    fmt::print("{:5.2f}  {:<44} {:9.4f} ms {:5.0f} GFLOP/s  XNNPACK {:9.4f} ms  {} times\n", c.ratio(), shape,
               c.own * 1e3, c.operations / c.own * 1e-9, c.xnnpack * 1e3, c.count);
    logs += std::log(c.ratio()), won += c.ratio() > 1.03, lost += c.ratio() < 0.97;
  }
  fmt::print(
      "{} shapes: XNNPACK takes {:.3f} times as long (geometric mean); it is more than 3 % slower at {}, faster at "
      "{}\n",
      all.size(), std::exp(logs / static_cast<double>(all.size())), won, lost);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  std::map<std::string, assay::bench::Compared> all;
  for (int i = 1; i < argc; ++i) assay::bench::compare_program(argv[i], all);
  assay::bench::print(all);
}
