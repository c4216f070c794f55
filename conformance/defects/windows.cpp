#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/defects/foretold.h"

// The mistakes of operators that read neighbourhoods of elements: adaptive pools, reflections and interpolations.
namespace assay::defects {
namespace {

bool has_numbers(const Tensor* t) { return t && info(t->dtype).kind < Kind::complex && t->count() > 0; }

// A mean over windows that end at the place before, because their end is rounded down.
void adaptive_means(const Operator& op, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, "round the end of a window down in place of up",
                            [](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                              std::vector<Tensor> outs = call.expected.outs;
                              if (!has_numbers(self) || self->rank() < 3 || outs[0].rank() != self->rank())
                                return std::nullopt;
                              const Array<Real> from = read<Real>(*self);
                              Array<Real> now(outs[0].sizes);
                              const int rank = self->rank();
                              const auto bounds = [&](const Dims& i, int d) {
                                const Int in = self->sizes[d], out = outs[0].sizes[d];
                                return std::pair(i[d] * in / out, (i[d] + 1) * in / out);
                              };
                              Int flat = 0;
                              for (const Dims& i : indices(outs[0].sizes)) {
                                const auto [top, bottom] = bounds(i, rank - 2);
                                const auto [left, right] = bounds(i, rank - 1);
                                Real sum = 0;
                                Dims at = i;
                                for (Int y = top; y < bottom; ++y)
                                  for (Int x = left; x < right; ++x)
                                    at[rank - 2] = y, at[rank - 1] = x, sum += from(at);
                                now[flat++] = sum / static_cast<Real>((bottom - top) * (right - left));
                              }
                              write(now, outs[0]);
                              return with_results(call.expected, std::move(outs));
                            }));
}

// A reflection that begins with the element at the edge.
void reflections(const Operator& op, std::vector<Hypothesis>& found) {
  const auto padding = argument_of(op, "padding");
  if (!padding) return;
  found.push_back(answering(op, "repeat the element at the edge in the reflection",
                            [padding = *padding](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                              const Ints* pads = std::get_if<Ints>(&call.arguments[padding]);
                              std::vector<Tensor> outs = call.expected.outs;
                              if (!self || !pads || self->count() == 0 || outs[0].rank() != self->rank())
                                return std::nullopt;
                              const Array<Element> from = read<Element>(*self);
                              Array<Element> now(outs[0].sizes);
                              Int flat = 0;
                              for (const Dims& i : indices(outs[0].sizes)) {
                                Dims at = i;
                                for (std::size_t k = 0; 2 * k < pads->size(); ++k) {
                                  const int d = self->rank() - 1 - static_cast<int>(k);
                                  const Int n = self->sizes[d], x = i[d] - (*pads)[2 * k];
                                  at[d] = std::clamp<Int>(x < 0 ? -1 - x : x >= n ? 2 * n - 1 - x : x, 0, n - 1);
                                }
                                now[flat++] = from(at);
                              }
                              write(now, outs[0]);
                              return with_results(call.expected, std::move(outs));
                            }));
}

// An interpolation that computes its scales from the sizes, though they are given.
void scales_of_sizes(const Operator& op, std::vector<Hypothesis>& found) {
  const auto scales = argument_of(op, "scale_factors"), size = argument_of(op, "output_size");
  if (!scales || !size) return;
  found.push_back(answering(
      op, "compute the scale from the sizes of input and out in place of scale_factors",
      [&op, scales = *scales, size = *size](const cases::HostCall& call) -> std::optional<judge::Expectation> {
        const Dims& sizes = call.expected.outs[0].sizes;
        std::vector<Value> all = call.arguments;
        if (!std::holds_alternative<Doubles>(all[scales]) || sizes.size() < 3) return std::nullopt;
        all[scales] = Value(), all[size] = Ints(sizes.begin() + 2, sizes.end());
        return judge::expect(op, all, Budget(cheap));
      }));
}

}  // namespace

std::vector<Hypothesis> mistakes_of_windows(const Operator& op) {
  std::vector<Hypothesis> found;
  const auto is_named = [&](std::string_view word) { return op.name.find(word) != std::string_view::npos; };
  if (is_named("adaptive_avg_pool2d.")) adaptive_means(op, found);
  if (is_named("::reflection_pad") && op.name.find("backward") == op.name.npos) reflections(op, found);
  scales_of_sizes(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects
