#include "optimized/kernels/steps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/steps.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "optimized/kernels/steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

void quantize_whole_rows(const float* x, std::size_t n, std::uint8_t* codes, Steps* steps, Range rows) {
  for (std::size_t first = rows.begin; first < rows.end; first += lanes) {
    const std::size_t count = std::min(lanes, rows.end - first);
    HWY_ALIGN float least[lanes] = {}, most[lanes] = {};
    for (std::size_t i = 0; i < count; ++i) {
      const Ends ends = ends_of(x + (first + i) * n, n);
      least[i] = ends.least, most[i] = ends.most;
    }
    find_steps(hn::Load(floats, least), hn::Load(floats, most), count, steps + first);
    for (std::size_t r = first; r < first + count; ++r) store_codes(steps[r], x + r * n, n, codes + r * n);
  }
}
void find_ends(const float* x, std::size_t n, Ends& ends) { ends = ends_of(x, n); }
void find_steps_between(const Ends& ends, Steps& steps) { steps = steps_between(ends); }
void quantize_part(Steps& steps, const float* x, std::size_t n, std::uint8_t* codes) {
  store_codes(steps, x, n, codes);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

// One row, in parts.
void quantize_by_parts(InstructionSet set, const float* x, std::size_t n, std::uint8_t* codes, Steps& steps,
                       const Threads& threads) {
  constexpr decltype(&HWY_STATIC_DISPATCH(find_ends)) find_ends[] = ASSAY_OF_EACH_SET(find_ends);
  constexpr decltype(&HWY_STATIC_DISPATCH(find_steps_between)) find_steps[] = ASSAY_OF_EACH_SET(find_steps_between);
  constexpr decltype(&HWY_STATIC_DISPATCH(quantize_part)) quantize[] = ASSAY_OF_EACH_SET(quantize_part);
  const auto at = static_cast<std::size_t>(set);
  constexpr std::size_t most_parts = 64;
  struct Part {
    Ends ends;
    Steps steps;
  } all[most_parts];
  const std::size_t parts = parts_of(threads, std::min(threads.tasks(), most_parts), n, 1);
  for_each_task(threads, parts, [&](std::size_t i) {
    const Range range = part(n, i, parts);
    find_ends[at](x + range.begin, range.size(), all[i].ends);
  });
  Ends ends;
  for (const Part& p : std::span(all, parts))
    ends = {std::min(ends.least, p.ends.least), std::max(ends.most, p.ends.most)};
  find_steps[at](ends, steps);
  for_each_task(threads, parts, [&](std::size_t i) {
    const Range range = part(n, i, parts);
    all[i].steps = steps;
    quantize[at](all[i].steps, x + range.begin, range.size(), codes + range.begin);
  });
  for (const Part& p : std::span(all, parts))
    if (std::isnan(p.steps.inverse)) steps = p.steps;
}

}  // namespace

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
