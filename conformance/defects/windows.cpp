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

// A bilinear interpolation that does not limit places before the first element to it, but goes on beyond.
void extrapolations(const Operator& op, std::vector<Hypothesis>& found) {
  const auto corners = argument_of(op, "align_corners"), scales = argument_of(op, "scale_factors");
  if (!corners || !scales) return;
  found.push_back(answering(
      op, "extrapolate before the first element in place of repeating it",
      [corners = *corners, scales = *scales](const cases::HostCall& call) -> std::optional<judge::Expectation> {
        const Tensor* input = std::get_if<Tensor>(&call.arguments[0]);
        const bool* aligned = std::get_if<bool>(&call.arguments[corners]);
        std::vector<Tensor> outs = call.expected.outs;
        if (!call.valid() || !has_numbers(input) || input->rank() != 4 || !aligned || *aligned ||
            !is_floating(outs[0].dtype))
          return std::nullopt;
        const Doubles* given = std::get_if<Doubles>(&call.arguments[scales]);
        struct Source {
          Int first, second;
          Real share;  // of the second element
        };
        const auto source = [&](int d, Int at) {
          const Int in = input->sizes[d];
          const Real step = given && given->size() == 2
                                ? 1 / static_cast<Real>((*given)[static_cast<std::size_t>(d - 2)])
                                : static_cast<Real>(in) / static_cast<Real>(outs[0].sizes[d]);
          const Real place = (static_cast<Real>(at) + 0.5) * step - 0.5;
          const Int first = std::clamp<Int>(static_cast<Int>(place), 0, in - 1);
          return Source{first, std::min(first + 1, in - 1), place - static_cast<Real>(first)};
        };
        const Array<Real> from = read<Real>(*input);
        Array<Real> now(outs[0].sizes);
        Int flat = 0;
        for (const Dims& i : indices(outs[0].sizes)) {
          const Source y = source(2, i[2]), x = source(3, i[3]);
          const auto in_row = [&](Int row) {
            return from({i[0], i[1], row, x.first}) * (1 - x.share) + from({i[0], i[1], row, x.second}) * x.share;
          };
          now[flat++] = in_row(y.first) * (1 - y.share) + in_row(y.second) * y.share;
        }
        write(now, outs[0]);
        return with_results(call.expected, std::move(outs));
      }));
}

// The place of an element as a pool tells it: its row and column in a plane of a tensor.
struct Place {
  Int row, column, plane, rows, columns;
};
struct OtherPlace {
  std::string_view does;
  Int (*of)(const Place&);
};
constexpr auto other_places = std::to_array<OtherPlace>({
    {"multiply the row by the number of rows, not of columns, in indices",
     [](const Place& p) { return p.row * p.rows + p.column; }},
    {"count indices along columns first", [](const Place& p) { return p.column * p.rows + p.row; }},
    {"return the column alone as indices", [](const Place& p) { return p.column; }},
    {"return the row alone as indices", [](const Place& p) { return p.row; }},
    {"count indices from the first plane on, not in each plane",
     [](const Place& p) { return (p.plane * p.rows + p.row) * p.columns + p.column; }},
});

// A maximum over windows of planes that tells otherwise where it found each element.
void places_in_planes(const Operator& op, std::vector<Hypothesis>& found) {
  for (const OtherPlace& other : other_places)
    found.push_back(answering(op, std::string(other.does),
                              [of = other.of](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                                std::vector<Tensor> outs = call.expected.outs;
                                if (!self || self->rank() < 3 || outs[1].rank() != self->rank()) return std::nullopt;
                                const int rank = self->rank();
                                const Int rows = self->sizes[rank - 2], columns = self->sizes[rank - 1],
                                          each = outs[1].sizes[rank - 2] * outs[1].sizes[rank - 1];
                                Array<Int> now = read<Int>(outs[1]);
                                for (Int k = 0; k < now.count(); ++k)
                                  now[k] = of({now[k] / columns, now[k] % columns, k / each, rows, columns});
                                write(now, outs[1]);
                                return with_results(call.expected, std::move(outs));
                              }));
}

// A maximum over windows that tells the place of another element of the same value.
void other_of_equal(std::vector<Hypothesis>& found) {
  const auto differs = [](const cases::HostCall& call) {
    const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
    if (!call.valid() || !self || info(self->dtype).kind >= Kind::complex) return false;
    Buffer<Real> all = read<Real>(*self).data;
    std::ranges::sort(all);
    return std::ranges::adjacent_find(all) != all.end();
  };
  const auto explains = [](const Answered& a) {
    const Tensor* self = std::get_if<Tensor>(&a.call.arguments[0]);
    const std::vector<Tensor>& right = a.call.expected.outs;
    if (a.refused() || a.outs.size() != 2 || !a.call.valid() || a.outs[0].bytes != right[0].bytes ||
        a.outs[1].sizes != right[1].sizes || a.outs[1].dtype != right[1].dtype || self->rank() < 3 ||
        info(self->dtype).kind >= Kind::complex)
      return false;
    const int rank = self->rank();
    const Int plane = self->sizes[rank - 2] * self->sizes[rank - 1],
              each = right[1].sizes[rank - 2] * right[1].sizes[rank - 1];
    const Array<Real> numbers = read<Real>(*self), values = read<Real>(right[0]);
    const Array<Int> got = read<Int>(a.outs[1]);
    for (Int k = 0; k < got.count(); ++k)
      if (got[k] < 0 || got[k] >= plane || !is_same_number(numbers[k / each * plane + got[k]], values[k])) return false;
    return true;
  };
  found.push_back(
      {"return another one than the first of equal elements", About::results, false, true, differs, explains});
}

}  // namespace

std::vector<Hypothesis> mistakes_of_windows(const Operator& op) {
  std::vector<Hypothesis> found;
  if (is_named(op, "adaptive_avg_pool2d.")) adaptive_means(op, found);
  if (is_named(op, "::reflection_pad") && !is_named(op, "backward")) reflections(op, found);
  if (is_named(op, "max_pool2d") && op.outs() == 2) places_in_planes(op, found), other_of_equal(found);
  scales_of_sizes(op, found);
  if (is_named(op, "upsample_bilinear2d.")) extrapolations(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects
