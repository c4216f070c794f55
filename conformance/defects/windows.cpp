#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of operators that read neighbourhoods of elements: pools, reflections and interpolations.
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

// Where a reflection begins with the element at the edge.
struct WrongReflection {
  std::string_view does;
  bool before, behind;  // at which side of a dimension
  int only = -1;        // in one dimension, counted from the last; -1: in all
};
constexpr auto wrong_reflections = std::to_array<WrongReflection>({
    {"repeat the element at the edge in the reflection", true, true},
    {"repeat the first element in the reflection before it", true, false},
    {"repeat the last element in the reflection behind it", false, true},
    {"repeat the elements at the edges of rows in the reflection", true, true, 0},
    {"repeat the first element of rows in the reflection before it", true, false, 0},
    {"repeat the last element of rows in the reflection behind it", false, true, 0},
    {"repeat the elements at the edges of columns in the reflection", true, true, 1},
    {"repeat the first element of columns in the reflection before it", true, false, 1},
    {"repeat the last element of columns in the reflection behind it", false, true, 1},
});

void reflections(const Operator& op, std::vector<Hypothesis>& found) {
  const auto padding = argument_of(op, "padding");
  if (!padding) return;
  for (const WrongReflection& wrong : wrong_reflections)
    found.push_back(
        answering(op, std::string(wrong.does),
                  [wrong, padding = *padding](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                    const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                    const Ints* pads = std::get_if<Ints>(&call.arguments[padding]);
                    if (!self || !pads || self->count() == 0 || call.expected.outs[0].rank() != self->rank())
                      return std::nullopt;
                    return with_elements(call, *self, [&](const Dims& i) {
                      Int at = 0;
                      for (int d = 0; d < self->rank(); ++d) {
                        const int k = self->rank() - 1 - d;  // counted from the last dimension
                        const Int n = self->sizes[d];
                        const auto pad = static_cast<std::size_t>(2 * k);
                        const Int x = pad < pads->size() ? i[d] - (*pads)[pad] : i[d];
                        const bool is_here = wrong.only < 0 || wrong.only == k;
                        const Int first = is_here && wrong.before ? -1 : 0, last = is_here && wrong.behind ? n : n - 1;
                        at = at * n + std::clamp<Int>(x < 0 ? first - x : x >= n ? last + n - 1 - x : x, 0, n - 1);
                      }
                      return at;
                    });
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

// The windows of a pool of planes. `dim` is 0 for the dimension before the last, and 1 for the last.
class Windows {
 public:
  static std::optional<Windows> of(const Operator& op) {
    const auto kernel = argument_of(op, "kernel_size"), stride = argument_of(op, "stride"),
               padding = argument_of(op, "padding"), dilation = argument_of(op, "dilation");
    if (!kernel || !stride || !padding || !dilation) return std::nullopt;
    return Windows{*kernel, *stride, *padding, *dilation};
  }
  // The place of the first element of window `at`; negative: in the padding.
  Int first(const cases::HostCall& call, int dim, Int at) const {
    const Int step = entry(call, stride_, dim);
    return at * (step > 0 ? step : size(call, dim)) - entry(call, padding_, dim);
  }
  Int size(const cases::HostCall& call, int dim) const { return entry(call, kernel_, dim); }
  Int dilation(const cases::HostCall& call, int dim) const { return std::max<Int>(entry(call, dilation_, dim), 1); }

 private:
  Windows(std::size_t kernel, std::size_t stride, std::size_t padding, std::size_t dilation)
      : kernel_(kernel), stride_(stride), padding_(padding), dilation_(dilation) {}
  static Int entry(const cases::HostCall& call, std::size_t argument, int dim) {
    const Ints* list = std::get_if<Ints>(&call.arguments[argument]);
    return !list || list->empty() ? 0 : list->size() == 1 ? list->front() : (*list)[static_cast<std::size_t>(dim)];
  }
  std::size_t kernel_, stride_, padding_, dilation_;
};

// A maximum over windows with dilation that begins in the padding: the kernel begins at the first element, in place of
// the first place of the window that is not in the padding.
void cut_windows(const Operator& op, std::vector<Hypothesis>& found) {
  const auto windows = Windows::of(op);
  if (!windows) return;
  found.push_back(answering(
      op, "begin windows with dilation at the first element, where padding is no multiple of dilation",
      [w = *windows](const cases::HostCall& call) -> std::optional<judge::Expectation> {
        const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
        std::vector<Tensor> outs = call.expected.outs;
        if (!has_numbers(self) || self->rank() < 3 || outs[0].rank() != self->rank()) return std::nullopt;
        const int rank = self->rank();
        const Int columns = self->sizes[rank - 1];
        const Array<Real> from = read<Real>(*self);
        const Array<Element> elements = read<Element>(*self);
        Array<Element> values = read<Element>(outs[0]);
        Array<Int> places = read<Int>(outs[1]);
        for (const Dims& i : indices(values.sizes)) {
          struct Range {
            Int first, end, step;
          };
          const auto range = [&](int dim) {
            const Int at = w.first(call, dim, i[rank - 2 + dim]), step = w.dilation(call, dim);
            return Range{std::max<Int>(at, 0),
                         std::min(at + (w.size(call, dim) - 1) * step + 1, self->sizes[rank - 2 + dim]), step};
          };
          const Range rows = range(0), row = range(1);
          Dims at = i;
          std::optional<Real> most;
          for (Int y = rows.first; y < rows.end; y += rows.step)
            for (Int x = row.first; x < row.end; x += row.step) {
              at[rank - 2] = y, at[rank - 1] = x;
              if (const Real now = from(at); !most || now > *most || std::isnan(now))
                most = now, values(i) = elements(at), places(i) = y * columns + x;
            }
        }
        write(values, outs[0]), write(places, outs[1]);
        return with_results(call.expected, std::move(outs));
      }));
}

// A maximum over windows that tells places as if the elements of a window were next to each other.
void places_without_dilation(const Operator& op, std::vector<Hypothesis>& found) {
  const auto windows = Windows::of(op);
  if (!windows) return;
  found.push_back(answering(op, "ignore dilation in indices",
                            [w = *windows](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                              std::vector<Tensor> outs = call.expected.outs;
                              if (!self || self->rank() < 3 || outs[1].rank() != self->rank()) return std::nullopt;
                              const int rank = self->rank();
                              const Int columns = self->sizes[rank - 1];
                              Array<Int> now = read<Int>(outs[1]);
                              for (const Dims& i : indices(now.sizes)) {
                                std::array<Int, 2> at{now(i) / columns, now(i) % columns};
                                for (int dim = 0; dim < 2; ++dim) {
                                  const Int first = w.first(call, dim, i[rank - 2 + dim]);
                                  Int& place = at[static_cast<std::size_t>(dim)];
                                  place = first + (place - first) / w.dilation(call, dim);
                                }
                                now(i) = at[0] * columns + at[1];
                              }
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

// A mean over windows that counts places outside of the input, even those outside of its padding.
void partial_windows(const Operator& op, std::vector<Hypothesis>& found) {
  const auto kernel = argument_of(op, "kernel_size"), divisor = argument_of(op, "divisor_override");
  if (!kernel || !divisor) return;
  found.push_back(as_if(op, "divide by the size of the whole window where it reaches beyond the padded input",
                        [kernel = *kernel, divisor = *divisor](std::vector<Value>& all) {
                          if (!std::holds_alternative<std::monostate>(all[divisor])) return false;
                          Int size = 1;
                          for (const Int n : std::get<Ints>(all[kernel])) size *= n;
                          all[divisor] = size;
                          return true;
                        }));
}

// A maximum over windows of an input that is padded with zeros.
void zero_padding(const Operator& op, std::vector<Hypothesis>& found) {
  const auto padding = argument_of(op, "padding");
  if (!padding || !is_named(op, "max_pool")) return;
  found.push_back(answering(op, "pad with 0 in place of the least number",
                            [&op, at = *padding](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const Ints* pads = std::get_if<Ints>(&call.arguments[at]);
                              if (!pads || pads->empty() || std::ranges::count(*pads, 0) == std::ssize(*pads))
                                return std::nullopt;
                              const Int down = pads->front(), right = pads->back();
                              auto padded = result_of("aten::constant_pad_nd.out",
                                                      {call.arguments[0], Ints{right, right, down, down}, Int{0}});
                              if (!padded) return std::nullopt;
                              std::vector<Value> all = call.arguments;
                              all[0] = std::move(*padded), all[at] = Ints{0, 0};
                              judge::Expectation e = judge::expect(op, all, Budget(cheap));
                              if (e.answer.outcome != Outcome::ok || e.outs[0].sizes != call.expected.outs[0].sizes)
                                return std::nullopt;
                              std::vector<Tensor> outs = call.expected.outs;
                              outs[0] = e.outs[0];
                              return with_results(call.expected, std::move(outs));
                            }));
}

// A maximum over places none of which is in the input.
void empty_windows(const Operator& op, std::vector<Hypothesis>& found) {
  if (!argument_of(op, "kernel_size") || !argument_of(op, "padding") || !is_named(op, "max_pool")) return;
  const auto differs = [](const cases::HostCall& call) {
    if (!call.valid() || is_complex(call.expected.outs[0].dtype)) return false;
    const DType dtype = call.expected.outs[0].dtype;
    const Real least = is_floating(dtype) ? -std::numeric_limits<Real>::infinity() : least_integer(dtype);
    return least < 0 && std::ranges::count(read<Real>(call.expected.outs[0]).data, least) > 0 &&
           std::ranges::count(read<Real>(std::get<Tensor>(call.arguments[0])).data, least) == 0;
  };
  const auto is_0 = [](Real right, Real got) { return right <= -128 && got == 0; };
  const auto explains = [=](const Answered& a) {
    return differs(a.call) && has_only(
                                  a, [](DType) { return true; }, is_0);
  };
  found.push_back({"return 0 in place of the least number where a window lies wholly in the padding", About::results,
                   true, false, differs, explains});
}

// The nearest element of an input, at an index that is not halved where the result is twice as long.
void doubled(const Operator& op, std::vector<Hypothesis>& found) {
  const auto scales = argument_of(op, "scale_factors");
  if (!scales || !is_named(op, "nearest2d")) return;
  found.push_back(spoiling(
      op, "divide by scale_factors in place of 2 where out is twice as long as input",
      [scales = *scales](Tensor& out, const cases::HostCall& call) {
        const Doubles* given = std::get_if<Doubles>(&call.arguments[scales]);
        const Tensor& input = std::get<Tensor>(call.arguments[0]);
        if (!given || given->size() != 2 || input.rank() != 4 || out.rank() != 4) return false;
        const auto source = [&](int dim, Int at) {
          const auto step = static_cast<Real>(1 / static_cast<float>((*given)[static_cast<std::size_t>(dim - 2)]));
          const auto place = static_cast<Int>(std::floor(round_to(DType::float32, static_cast<Real>(at) * step)));
          return std::min(place, input.sizes[dim] - 1);
        };
        const Array<Element> from = read<Element>(input);
        Array<Element> now(out.sizes);
        Int flat = 0;
        for (const Dims& i : indices(out.sizes)) now[flat++] = from(Dims{i[0], i[1], source(2, i[2]), source(3, i[3])});
        write(now, out);
        return true;
      }));
}

}  // namespace

std::vector<Hypothesis> mistakes_of_windows(const Operator& op) {
  std::vector<Hypothesis> found;
  if (is_named(op, "adaptive_avg_pool2d.")) adaptive_means(op, found);
  if (is_named(op, "::reflection_pad") && !is_named(op, "backward")) reflections(op, found);
  if (is_named(op, "max_pool2d") && op.outs() == 2)
    places_in_planes(op, found), places_without_dilation(op, found), cut_windows(op, found), other_of_equal(found);
  scales_of_sizes(op, found);
  if (is_named(op, "upsample_bilinear2d.")) extrapolations(op, found);
  partial_windows(op, found);
  zero_padding(op, found);
  empty_windows(op, found);
  doubled(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects
