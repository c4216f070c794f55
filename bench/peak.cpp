#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peak.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench/peak.h"

HWY_BEFORE_NAMESPACE();
namespace assay::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t sums = 12, steps = 20'000;

// Operations, and a number that depends on all of them.
float multiply_and_add() {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sum[sums];
  for (std::size_t i = 0; i < sums; ++i) sum[i] = hn::Set(d, static_cast<float>(i));
  auto factor = hn::Set(d, 0.999f), addend = hn::Set(d, 1e-3f);
  for (std::size_t step = 0; step < steps; ++step) {
    asm volatile("" : "+m"(factor), "+m"(addend));
    for (std::size_t i = 0; i < sums; ++i) sum[i] = hn::MulAdd(sum[i], factor, addend);
  }
  for (std::size_t i = 1; i < sums; ++i) sum[0] = hn::Add(sum[0], sum[i]);
  return hn::GetLane(sum[0]);
}

double flops_once() {
  const auto begin = std::chrono::steady_clock::now();
  volatile float result = multiply_and_add();
  static_cast<void>(result);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return 2.0 * sums * steps * static_cast<double>(hn::MaxLanes(hn::ScalableTag<float>())) / seconds.count();
}

// Reads all of it, in four places at once as a kernel does that follows several rows.
double bandwidth_once(const float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d), quarter = count / 4 / lanes * lanes;
  hn::Vec<decltype(d)> sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < quarter; i += lanes)
    for (std::size_t k = 0; k < 4; ++k) sum[k] = hn::Add(sum[k], hn::LoadU(d, data + k * quarter + i));
  volatile float result = hn::GetLane(hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3])));
  static_cast<void>(result);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(4 * quarter * sizeof(float)) / seconds.count();
}

}  // namespace assay::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::bench {

double peak_flops(kernels::InstructionSet set) {
  constexpr decltype(&HWY_STATIC_DISPATCH(flops_once)) of_set[] = ASSAY_OF_EACH_SET(flops_once);
  double most = 0;
  for (int i = 0; i < 40; ++i) most = std::max(most, of_set[static_cast<std::size_t>(set)]());
  return most;
}

double peak_bandwidth(kernels::InstructionSet set, std::size_t bytes) {
  constexpr decltype(&HWY_STATIC_DISPATCH(bandwidth_once)) of_set[] = ASSAY_OF_EACH_SET(bandwidth_once);
  const std::vector<float> data(std::max<std::size_t>(bytes, 1 << 16) / sizeof(float), 1.0f);
  double most = 0;
  for (int i = 0; i < 20; ++i) most = std::max(most, of_set[static_cast<std::size_t>(set)](data.data(), data.size()));
  return most;
}

}  // namespace assay::bench
#endif
