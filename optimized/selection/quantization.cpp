#include <algorithm>
#include <cmath>

#include "kernels.gen.h"
#include "optimized/kernels/quantize.h"
#include "optimized/selection/codes.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/gather.h"
#include "optimized/selection/layout.h"
#include "optimized/selection/numbers.h"

// Conversion of numbers to the codes of quantized tensors, and back. An element is converted with a scale and a zero
// point. They are numbers, tensors of one element, vectors along a dimension (per channel), or tensors that are
// broadcast with the input (per token). Contiguous codes that share a scale and a zero point are a row. If the steps
// are rounded to floats, rows are converted by vectors; otherwise one element at a time is converted by doubles, which
// are rounded after each step.
namespace assay::optimized {
namespace {

enum class Form { per_tensor, per_channel, per_token };

// The operands: input, scales, zero points, axis if the form is per channel, quant_min, quant_max, dtype, and then the
// dtype of the result if codes are converted back, and the out.
struct Operands {
  const Call& call;
  Form form;

  std::size_t limits() const { return form == Form::per_channel ? 4 : 3; }
  const Value& scales() const { return call[1]; }
  const Value& zero_points() const { return call[2]; }
  const Value& low() const { return call[limits()]; }
  const Value& high() const { return call[limits() + 1]; }
  const Value& dtype() const { return call[limits() + 2]; }
  const Value& result_dtype() const { return call[limits() + 3]; }
  const Tensor& input() const { return call.tensor(0); }
  Tensor& out() const { return *call.arguments.back()->tensor; }
};

bool is_whole(const Value& v) { return v.kind == ValueKind::integer; }
bool is_number(const Value& v) { return is_whole(v) || v.kind == ValueKind::real; }
double number_of(const Value& v) { return is_whole(v) ? static_cast<double>(v.integer) : v.real; }

bool has_limits(const Operands& o, DType dtype) {
  return is_whole(o.low()) && is_whole(o.high()) && with_code(dtype, [&]<class Code>() {
           return o.low().integer >= std::numeric_limits<Code>::min() &&
                  o.high().integer <= std::numeric_limits<Code>::max();
         });
}

std::optional<DType> promoted(std::initializer_list<const Value*> operands) {
  Promotion promotion;
  for (const Value* v : operands)
    if (v->kind != ValueKind::none) promotion.add(*v);
  return promotion.result();
}

// The dtypes to which steps are rounded.
struct Steps {
  DType first = DType::float32;   // quantize: 1 / scale; dequantize: the input, the zero point and their difference
  DType common = DType::float32;  // all other steps
  // dequantize: the dtype to which the scale is rounded; nothing if it is not rounded
  std::optional<DType> scale = {};
  bool is_complex = false;  // dequantize: the steps are those of complex numbers, whose parts have the common dtype

  bool are_floats() const { return first == DType::float32 && common == DType::float32 && !is_complex; }
};

// Element i of an operand that is a tensor, or the number.
double element(const Value& v, std::ptrdiff_t i) {
  if (!v.is_tensor()) return number_of(v);
  return find_reader(v.tensor->dtype)(v.tensor->at(i));
}

// The sizes of the result, and the strides of out, input, scales and zero points along its dimensions.
struct Places {
  Shape shape;
  Strides strides[most_operands] = {};
};

bool is_vector(const Value& v, std::int64_t n) {
  return v.tensor->rank > 0 && v.tensor->count() == n && v.tensor->sizes[0] == n;
}

bool place_channels(const Operands& o, Places& p) {
  const Tensor &input = o.input(), &scales = *o.scales().tensor;
  const int axis = dim_of(o.call[3], input.rank);
  const std::int64_t n = scales.rank > 0 ? scales.sizes[0] : -1;
  if (input.rank == 0 || axis < 0 || !is_vector(o.scales(), n)) return false;
  const bool has_zero_points = o.zero_points().is_tensor();
  if (has_zero_points && !is_vector(o.zero_points(), n)) return false;
  Shape along{input.rank, {}};
  std::fill_n(along.sizes, input.rank, 1);
  along.sizes[axis] = static_cast<std::int32_t>(n);
  p.shape = shape_of(input);
  if (!broadcast(p.shape, along)) return false;
  for (int k = 2; k < 4; ++k) p.strides[k].of[axis] = n != 1;
  return true;
}

bool place_tokens(const Operands& o, Places& p) {
  p.shape = shape_of(o.input());
  if (!broadcast(p.shape, *o.scales().tensor) || !broadcast(p.shape, *o.zero_points().tensor)) return false;
  p.strides[2] = strides_in(p.shape, *o.scales().tensor), p.strides[3] = strides_in(p.shape, *o.zero_points().tensor);
  return true;
}

bool place(const Operands& o, Places& p) {
  p.shape = shape_of(o.input());
  if (o.form == Form::per_channel && !place_channels(o, p)) return false;
  if (o.form == Form::per_token && !place_tokens(o, p)) return false;
  if (p.shape.rank != o.out().rank) return false;
  p.strides[0] = strides_of(p.shape, o.out().dim_order), p.strides[1] = strides_in(p.shape, o.input());
  return true;
}

// Whether the operands of a form are tensors or numbers as its schema has them, and their elements can be read.
bool has_operands(const Operands& o, bool zero_points_are_optional) {
  const auto is_read = [](const Value& v) { return !v.is_tensor() || find_reader(v.tensor->dtype); };
  if (!o.call[0].is_tensor() || !o.call.arguments.back()->is_tensor()) return false;
  if (!is_read(o.call[0]) || !is_read(o.scales()) || !is_read(o.zero_points())) return false;
  const bool has_none = zero_points_are_optional && o.zero_points().kind == ValueKind::none;
  if (o.form != Form::per_tensor) return o.scales().is_tensor() && (has_none || o.zero_points().is_tensor());
  return o.scales().is_tensor() == o.zero_points().is_tensor() &&
         (o.scales().is_tensor() || (is_number(o.scales()) && is_whole(o.zero_points())));
}
bool has_one_scale(const Operands& o) {
  return !o.scales().is_tensor() || (o.scales().tensor->count() == 1 && o.zero_points().tensor->count() == 1);
}

// Runs of fewer elements take much longer.
constexpr std::ptrdiff_t short_run = 16;

// The loops over the results in the order of the out, or, if its runs are short, in the order of the input.
Nest loops_of(const Places& p, const Operands& o) {
  const auto run = [](const Nest& nest) { return nest.loops == 0 ? 0 : nest.count[nest.loops - 1]; };
  const Nest nest = nest_of(p.shape, o.out().dim_order, p.strides);
  if (run(nest) >= short_run || o.input().rank != p.shape.rank) return nest;
  const Nest other = nest_of(p.shape, o.input().dim_order, p.strides);
  return run(other) > run(nest) ? other : nest;
}

// Elements of an operand with equal distances.
struct Run {
  std::ptrdiff_t first, stride;
};

// Calls body(at, n, input, out) for runs of n results whose scale and zero point are equal, for parts of the runs on
// several threads. `at` has the positions of out, input, scale and zero point.
template <class Body>
void each_run(const Places& p, const Operands& o, const kernels::Threads& threads, const Body& body) {
  const Nest whole = loops_of(p, o);
  if (whole.loops == 0) return;
  const int inner = whole.loops - 1;
  const bool shares = whole.stride[2][inner] == 0 && whole.stride[3][inner] == 0;
  std::size_t row = 1;
  for (int d = 1; d < whole.loops; ++d) row *= static_cast<std::size_t>(whole.count[d]);
  kernels::share(threads, static_cast<std::size_t>(whole.count[0]), row, [&](kernels::Range range) {
    Nest nest = whole;
    nest.count[0] = static_cast<std::ptrdiff_t>(range.size());
    std::ptrdiff_t first[most_operands];
    for (int k = 0; k < most_operands; ++k) first[k] = static_cast<std::ptrdiff_t>(range.begin) * nest.stride[k][0];
    each_row(nest, most_operands, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
      const std::ptrdiff_t step = shares ? n : 1;
      for (std::ptrdiff_t i = 0; i < n; i += step) {
        std::ptrdiff_t now[most_operands];
        for (int k = 0; k < most_operands; ++k) now[k] = first[k] + at[k] + i * nest.stride[k][inner];
        body(now, step, Run{now[1], nest.stride[1][inner]}, Run{now[0], nest.stride[0][inner]});
      }
    });
  });
}

// Quantize.

std::optional<Steps> plan_quantize(const Operands& o) {
  const DType out = o.out().dtype, input = o.input().dtype;
  if (!has_operands(o, false) || named(o.dtype()) != out || !is_code(out) || !has_limits(o, out)) return {};
  if (o.form != Form::per_token && (!is_floating(input) || input == DType::float64)) return {};
  if (o.form == Form::per_tensor) return Steps{};
  auto common = promoted({&o.call[0], &o.scales(), &o.zero_points()});
  if (!common) return {};
  if (!is_floating(*common) || (o.form == Form::per_channel && *common != DType::float64)) common = DType::float32;
  const DType scales = o.scales().tensor->dtype;
  return Steps{is_floating(scales) ? scales : DType::float32, *common};
}

// Each row of the input has one scale and one zero point.
bool has_one_for_each_row(const Operands& o) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < o.input().rank; ++d) rows *= o.input().sizes[d];
  return o.scales().tensor->count() == rows && o.zero_points().tensor->count() == rows;
}

// Computes a code with doubles that are rounded after each step.
struct SlowQuantizer {
  double inverse_scale, zero_point, low, high;
  bool adds_first;
  DType common;

  double operator()(double x) const {
    const auto rounded = [this](double y) { return stored_as(common, y); };
    const double scaled = rounded(x * inverse_scale), zero = rounded(zero_point);
    const double code = adds_first ? std::nearbyint(rounded(scaled + zero_point)) : std::nearbyint(scaled) + zero;
    const double exact = rounded(code), least = exact < rounded(low) ? rounded(low) : exact;
    return least > rounded(high) ? rounded(high) : least;
  }
};

constexpr std::ptrdiff_t tile = 256;

template <class T>
void scatter(const T* from, std::ptrdiff_t n, T* to, std::ptrdiff_t stride) {
  for (std::ptrdiff_t i = 0; i < n; ++i) to[i * stride] = from[i];
}

template <class Code>
void quantize_run(const kernels::Quantizer& q, kernels::QuantizeRow<Code> row, const Tensor& input, const Run& from,
                  Code* codes, const Run& to, std::ptrdiff_t n) {
  const bool reads = input.dtype == DType::float32 && (from.stride == 1 || n == 1), writes = to.stride == 1 || n == 1;
  if (reads && writes)
    return row(q, input.elements<float>() + from.first, codes + to.first, static_cast<std::size_t>(n));
  const Gather gather = find_gather(input.dtype, Element::f32);
  alignas(64) float gathered[tile];
  alignas(64) Code made[tile];
  for (std::ptrdiff_t i = 0; i < n; i += tile) {
    const std::ptrdiff_t now = std::min(tile, n - i);
    gather(input.at(from.first + i * from.stride), from.stride, gathered, static_cast<std::size_t>(now));
    Code* out = codes + to.first + i * to.stride;
    row(q, gathered, writes ? out : made, static_cast<std::size_t>(now));
    if (!writes) scatter(made, now, out, to.stride);
  }
}

// Whether float images of three contiguous planes become 8-bit codes that lie channels last.
bool are_three_planes(const Operands& o) {
  constexpr std::uint8_t channels_last[] = {0, 2, 3, 1};
  const Tensor &x = o.input(), &y = o.out();
  return o.form == Form::per_tensor && x.rank == 4 && x.dtype == DType::float32 && x.size(1) == 3 && is_row_major(x) &&
         y.element_bytes() == 1 && std::equal(y.dim_order, y.dim_order + 4, channels_last);
}

template <class Code>
void quantize_three_planes(const Step& step, const kernels::Quantizer& q, const kernels::Threads& threads) {
  const Tensor& x = step.call.tensor(0);
  const auto pixels = static_cast<std::size_t>(x.size(2) * x.size(3));
  const auto row = kernels::find_quantize<Code>(*step.call.set);
  kernels::share(threads, static_cast<std::size_t>(x.size(0)) * pixels, 3, [&](kernels::Range range) {
    constexpr std::size_t most = tile;
    alignas(64) Code planes[3 * most];
    for (std::size_t i = range.begin, n; i < range.end; i += n) {
      n = std::min({most, range.end - i, pixels - i % pixels});
      const float* first = x.elements<float>() + i / pixels * 3 * pixels + i % pixels;
      for (std::size_t c = 0; c < 3; ++c) row(q, first + c * pixels, planes + c * most, n);
      kernels::interleave_three(*step.call.set, reinterpret_cast<const std::uint8_t*>(planes), most,
                                step.call.out().elements<std::uint8_t>() + 3 * i, n);
    }
  });
}

template <Form form>
bool accepts_quantize(const Call& call) {
  return call.set && plan_quantize({call, form});
}

template <Form form>
bool run_quantize(const Step& step, Execution& execution) {
  const Operands o{step.call, form};
  const auto steps = plan_quantize(o);
  Places p;
  if (!steps || !place(o, p) || (form == Form::per_token && !has_one_for_each_row(o))) return false;
  if (form == Form::per_tensor && (!has_one_scale(o) || element(o.scales(), 0) == 0)) return false;
  if (!resize(o.out(), p.shape.span())) return false;
  const double low = number_of(o.low()), high = number_of(o.high());
  const bool is_fast = steps->are_floats() && find_gather(o.input().dtype, Element::f32);
  const ReadNumber<> read = find_reader(o.input().dtype);
  const WriteNumber<> write = find_writer(o.out().dtype);
  const auto bytes = static_cast<std::ptrdiff_t>(o.input().element_bytes());
  return with_code(o.out().dtype, [&]<class Code>() {
    const kernels::QuantizeRow<Code> row = kernels::find_quantize<Code>(*step.call.set);
    const auto inverse_of = [&](std::ptrdiff_t i) { return stored_as(steps->first, 1 / element(o.scales(), i)); };
    const auto floats_of = [&](double inverse, double zero_point) {
      return kernels::Quantizer{static_cast<float>(inverse), static_cast<float>(zero_point), static_cast<float>(low),
                                static_cast<float>(high), form == Form::per_token};
    };
    if (is_fast && are_three_planes(o)) {
      quantize_three_planes<Code>(step, floats_of(inverse_of(0), element(o.zero_points(), 0)), execution.threads);
      return true;
    }
    each_run(p, o, execution.threads, [&](const std::ptrdiff_t* i, std::ptrdiff_t n, const Run& from, const Run& to) {
      const double inverse = inverse_of(i[2]), zero_point = element(o.zero_points(), i[3]);
      Code* codes = o.out().elements<Code>();
      if (is_fast) return quantize_run(floats_of(inverse, zero_point), row, o.input(), from, codes, to, n);
      const SlowQuantizer q{inverse, zero_point, low, high, form == Form::per_token, steps->common};
      const std::byte* x = o.input().at(from.first);
      for (std::ptrdiff_t k = 0; k < n; ++k)
        write(q(read(x + k * from.stride * bytes)), codes + to.first + k * to.stride);
    });
    return true;
  });
}

// Dequantize.

// The dtypes to which the difference is rounded, and the product, if the form is per tensor and the result is named.
std::optional<Steps> plan_named(const Operands& o, DType result) {
  const bool is_complex = part_of(result) != result;
  const auto dtype_with = [&](bool floating) {
    return floating && !is_floating(part_of(result)) ? DType::float32 : part_of(result);
  };
  Steps steps{.is_complex = is_complex};
  if (o.scales().is_tensor()) {
    const bool zero_point = is_floating(o.zero_points().tensor->dtype);
    steps.first = dtype_with(zero_point),
    steps.common = dtype_with(zero_point || is_floating(o.scales().tensor->dtype));
    if (!is_floating(steps.common) || o.zero_points().tensor->dtype == DType::boolean) return {};
  } else {
    steps.first = dtype_with(false), steps.common = dtype_with(true);
  }
  steps.scale = is_complex ? steps.common : computed_in(steps.common);
  const DType out = o.out().dtype;
  return part_of(out) == steps.common && (part_of(out) != out) == is_complex ? std::optional(steps) : std::nullopt;
}

std::optional<Steps> plan_dequantize(const Operands& o) {
  const DType input = o.input().dtype, out = o.out().dtype;
  if (!has_operands(o, o.form == Form::per_channel)) return {};
  if (o.form != Form::per_token && (named(o.dtype()) != input || !is_code(input))) return {};
  const auto result = named(o.result_dtype(), DType::float32);
  if (!result || (!find_reader(part_of(*result)))) return {};
  if (o.form == Form::per_tensor) return *result == DType::boolean ? std::nullopt : plan_named(o, *result);
  if (*result != out || (o.form == Form::per_channel && !has_limits(o, input))) return {};
  if (o.zero_points().is_tensor() && o.zero_points().tensor->dtype == DType::boolean) return {};
  if (o.form == Form::per_channel && o.zero_points().is_tensor() && o.zero_points().tensor->dtype >= DType::uint16)
    return {};
  const auto difference = promoted({&o.call[0], &o.zero_points()});
  const auto common = promoted({&o.call[0], &o.scales(), &o.zero_points()});
  if (!difference || *difference >= DType::uint16) return {};
  if (!common || is_complex(*common) || input == DType::boolean) return {};
  if (!is_floating(*common) && o.form != Form::per_channel) return {};
  return Steps{*difference, *common};
}

// The difference of a code and its zero point. Integers wrap.
double difference(const Steps& steps, double x, double zero_point) {
  const auto rounded = [&](double y) { return stored_as(steps.first, y); };
  return rounded(rounded(x) - rounded(zero_point));
}

// The product of integers, which wraps.
double whole_product(const Steps& steps, double a, double b) {
  const auto bits = [](double x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
  std::uint64_t element;
  find_writer<std::int64_t>(steps.common)(static_cast<std::int64_t>(bits(a) * bits(b)), &element);
  return find_reader(steps.common)(&element);
}

// Stores the product with the scale, and its imaginary part. `write` stores a part of an element of out.
void store_product(const Steps& steps, WriteNumber<> write, double difference, double scale, DType out, std::byte* to) {
  const auto rounded = [&](double y) { return stored_as(steps.common, y); };
  const double x = rounded(difference),
               real = is_floating(steps.common) ? rounded(x * scale) : whole_product(steps, x, scale);
  write(real, to);
  if (part_of(out) == out) return;
  const std::uint64_t bytes = static_cast<std::uint64_t>(find_dtype(static_cast<int>(part_of(out)))->bytes);
  write(steps.is_complex ? rounded(x * 0 + 0 * scale) : 0, to + bytes);
}

// Whether a difference of integers, which is exact, is the difference of floats.
bool is_float_difference(const Steps& steps, DType input, double zero_point) {
  if (steps.first == DType::float32) return true;
  const bool is_wide = steps.first == DType::int64 || steps.first == DType::int32;
  return is_wide && find_dtype(static_cast<int>(input))->bytes < 4 && std::fabs(zero_point) < 0x1p22;
}

template <class Code>
void dequantize_run(kernels::DequantizeRow<Code> row, float zero_point, float scale, const Code* codes, float* results,
                    const Run& to, std::ptrdiff_t n) {
  if (to.stride == 1 || n == 1) return row(zero_point, scale, codes, results + to.first, static_cast<std::size_t>(n));
  alignas(64) float made[tile];
  for (std::ptrdiff_t i = 0; i < n; i += tile) {
    const std::ptrdiff_t now = std::min(tile, n - i);
    row(zero_point, scale, codes + i, made, static_cast<std::size_t>(now));
    scatter(made, now, results + to.first + i * to.stride, to.stride);
  }
}

// Whether the sizes of the operands fit each other and the result.
bool fits(const Operands& o) {
  Places p;
  return place(o, p) && (o.form != Form::per_tensor || has_one_scale(o)) &&
         std::ranges::equal(p.shape.span(), o.out().shape());
}
bool moves(const Operands& o) {
  return std::ranges::any_of(o.call.arguments, [](const Value* v) { return v->is_tensor() && v->tensor->moves; });
}

template <Form form>
bool accepts_dequantize(const Call& call) {
  const Operands o{call, form};
  return call.set && plan_dequantize(o) && (moves(o) || fits(o));
}

template <Form form>
bool run_dequantize(const Step& step, Execution& execution) {
  const Operands o{step.call, form};
  const auto steps = plan_dequantize(o);
  Places p;
  if (!steps || !place(o, p) || (form == Form::per_tensor && !has_one_scale(o)) || !resize(o.out(), p.shape.span()))
    return false;
  const Tensor &input = o.input(), &out = o.out();
  const ReadNumber<> read = find_reader(input.dtype);
  const WriteNumber<> write = find_writer(part_of(out.dtype));
  const auto bytes = static_cast<std::ptrdiff_t>(input.element_bytes()),
             out_bytes = static_cast<std::ptrdiff_t>(out.element_bytes());
  const bool has_zero_points = o.zero_points().kind != ValueKind::none;
  const bool is_fast = steps->common == DType::float32 && !steps->is_complex && out.dtype == DType::float32;
  each_run(p, o, execution.threads, [&](const std::ptrdiff_t* i, std::ptrdiff_t n, const Run& from, const Run& to) {
    const double given = element(o.scales(), i[2]), scale = steps->scale ? stored_as(*steps->scale, given) : given;
    const double zero_point = has_zero_points ? element(o.zero_points(), i[3]) : 0;
    if (is_fast && (from.stride == 1 || n == 1) && static_cast<double>(static_cast<float>(scale)) == scale &&
        is_float_difference(*steps, input.dtype, zero_point) && with_code(input.dtype, [&]<class Code>() {
          dequantize_run(kernels::find_dequantize<Code>(*step.call.set), static_cast<float>(zero_point),
                         static_cast<float>(scale), input.elements<Code>() + from.first, out.elements<float>(), to, n);
          return true;
        }))
      return;
    const std::byte* codes = input.at(from.first);
    std::byte* y = out.at(to.first);
    for (std::ptrdiff_t k = 0; k < n; ++k) {
      const double x = read(codes + k * from.stride * bytes);
      store_product(*steps, write, has_zero_points ? difference(*steps, x, zero_point) : x, scale, out.dtype,
                    y + k * to.stride * out_bytes);
    }
  });
  return true;
}

using enum Form;

}  // namespace

constexpr Kernel quantize_per_tensor{"quantize_per_tensor", accepts_quantize<per_tensor>, nullptr,
                                     run_quantize<per_tensor>};
constexpr Kernel quantize_per_channel{"quantize_per_channel", accepts_quantize<per_channel>, nullptr,
                                      run_quantize<per_channel>};
constexpr Kernel quantize_per_token{"quantize_per_token", accepts_quantize<per_token>, nullptr,
                                    run_quantize<per_token>};
constexpr Kernel dequantize_per_tensor{"dequantize_per_tensor", accepts_dequantize<per_tensor>, nullptr,
                                       run_dequantize<per_tensor>};
constexpr Kernel dequantize_per_channel{"dequantize_per_channel", accepts_dequantize<per_channel>, nullptr,
                                        run_dequantize<per_channel>};
constexpr Kernel dequantize_per_token{"dequantize_per_token", accepts_dequantize<per_token>, nullptr,
                                      run_dequantize<per_token>};

}  // namespace assay::optimized
