#include "optimized/kernels/steps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/steps.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "optimized/kernels/steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

void quantize_whole_rows(const float* x, std::size_t n, std::uint8_t* codes, Steps* steps, Range rows) {
  for (std::size_t r = rows.begin; r < rows.end; ++r) steps[r] = quantize_row(x + r * n, n, codes + r * n);
}
void widen(const float* x, std::size_t n, float& least, float& most) {
  const Ends ends = ends_of(x, n);
  least = ends.least, most = ends.most;
}
bool quantize_part(const Steps& steps, const float* x, std::size_t n, std::uint8_t* codes) {
  return store_codes(steps, x, n, codes);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

// One row, in parts.
void quantize_by_parts(InstructionSet set, const float* x, std::size_t n, std::uint8_t* codes, Steps& steps,
                       const Threads& threads) {
  constexpr decltype(&HWY_STATIC_DISPATCH(widen)) widens[] = ASSAY_OF_EACH_SET(widen);
  constexpr decltype(&HWY_STATIC_DISPATCH(quantize_part)) quantizes[] = ASSAY_OF_EACH_SET(quantize_part);
  constexpr std::size_t most_parts = 64;
  struct Part {
    float least, most;
    bool has_nan;
  } all[most_parts];
  const std::size_t parts = parts_of(threads, std::min(threads.tasks(), most_parts), n, 1);
  for_each_task(threads, parts, [&](std::size_t i) {
    const Range range = part(n, i, parts);
    widens[static_cast<std::size_t>(set)](x + range.begin, range.size(), all[i].least, all[i].most);
  });
  for (std::size_t i = 1; i < parts; ++i)
    all[0].least = std::min(all[0].least, all[i].least), all[0].most = std::max(all[0].most, all[i].most);
  steps = steps_between(all[0].least, all[0].most);
  for_each_task(threads, parts, [&](std::size_t i) {
    const Range range = part(n, i, parts);
    all[i].has_nan =
        !quantizes[static_cast<std::size_t>(set)](steps, x + range.begin, range.size(), codes + range.begin);
  });
  if (std::any_of(all, all + parts, [](const Part& p) { return p.has_nan; })) steps.inverse = std::nanf("");
}

}  // namespace

Steps steps_between(float least, float most) {
  const float range = most - least, k = range == 0 ? 1 : 255 / range;
  const float a = least * k, b = most * k;
  const float exact = (a + -128) + (b + 127) > 0 ? -128 - a : 127 - b;
  const float limited = exact < -128 ? -128 : exact > 127 ? 127 : exact;
  if (!(limited == limited)) return {0, 0, std::nanf("")};
  return {k, static_cast<std::int32_t>(std::nearbyint(limited)) + 128, 1 / k};
}

void quantize_rows(InstructionSet set, const float* x, std::size_t rows, std::size_t n, std::uint8_t* codes,
                   Steps* steps, const Threads& threads) {
  constexpr decltype(&HWY_STATIC_DISPATCH(quantize_whole_rows)) quantize[] = ASSAY_OF_EACH_SET(quantize_whole_rows);
  if (rows >= threads.tasks())
    return share(threads, rows, n,
                 [&](Range range) { quantize[static_cast<std::size_t>(set)](x, n, codes, steps, range); });
  for (std::size_t r = 0; r < rows; ++r) quantize_by_parts(set, x + r * n, n, codes + r * n, steps[r], threads);
}

}  // namespace assay::kernels
#endif
