#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels.gen.h"
#include "optimized/operators/elements.h"
#include "optimized/operators/views.h"

// One number out for each number in, or for two or three that are broadcast.
namespace assay::optimized {
namespace {

using kernels::Pointwise;

constexpr int most_operands_in = 3;
constexpr std::size_t tile = 256;  // elements that are gathered at once
using Slot = std::int64_t;         // for one element of any type

struct State {
  bool fixed = false, fits = false;
  bool is_division = false;    // of integers
  bool is_limited = false;     // by its second operand and its third, of which one may be None
  bool is_power = false;       // its parameter is a double
  bool is_difference = false;  // its parameter is the opposite of the call's
  DType common = DType::float32;
  std::uint8_t operands = 0, operand_bytes[most_operands_in] = {}, result_bytes = 0;
  kernels::PointwiseRow row = nullptr;
  Gather gather[most_operands_in] = {};
  bool converts[most_operands_in] = {};  // its elements are not those that the row reads
  bool rounds[most_operands_in] = {};    // to the common dtype, which is narrower than what the row reads
  bool rounds_parameters = false;
  Store store = nullptr;  // of results; null: they lie as the row gives them
  Store round = nullptr;  // to a common dtype of half floats, and back
  Gather widen = nullptr;
  std::ptrdiff_t first[most_operands_in] = {};  // elements before the operand's first
  Slot numbers[most_operands_in] = {}, parameters[kernels::most_parameters] = {};
  Nest nest;
};

// Where a call's parameters stand: behind the operands, before the out.
std::span<Value* const> parameters_of(const Call& call, int operands) {
  const std::size_t n = call.arguments.size() - 1, first = static_cast<std::size_t>(operands);
  return call.arguments.subspan(first, std::min(n - first, kernels::most_parameters));
}

bool is_none(const Value& v) { return v.kind == ValueKind::none && !v.changes; }

// What limits nothing, from below or from above.
Slot no_limit(DType common, bool above) {
  Slot limit = above ? std::numeric_limits<Slot>::max() : std::numeric_limits<Slot>::min();
  const float infinite = above ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  if (element_of(common) == Element::f32) std::memcpy(&limit, &infinite, sizeof infinite);
  return limit;
}

bool read_number(const State& s, const Value& v, bool rounds, Slot* to) {
  return rounds ? rounded_number_as(s.common, v, to) : number_as(s.common, v, to);
}

// The opposite, of its own kind, of a number that was read: an integer 0 has no sign. One of an unsigned type wraps, as
// results do; the least integer has none.
bool read_opposite(const State& s, Value v, Slot* to) {
  const bool wraps = v.kind == ValueKind::integer && v.integer > 0 && element_of(s.common) == Element::i64;
  if (v.kind == ValueKind::real) v.real = -v.real;
  if (v.kind == ValueKind::integer && __builtin_sub_overflow(std::int64_t{0}, v.integer, &v.integer)) return false;
  return wraps ? (*to = v.integer, true) : read_number(s, v, s.rounds_parameters, to);
}

// An exponent, which only a half type rounds.
void read_exponent(const State& s, const Value& v, Slot* to) {
  float rounded;
  std::memcpy(&rounded, to, sizeof rounded);
  const double given = v.kind == ValueKind::real ? v.real : static_cast<double>(v.integer);
  const double exponent = s.rounds_parameters ? static_cast<double>(rounded) : given;
  std::memcpy(to, &exponent, sizeof exponent);
}

bool read_parameters(const Call& call, State& s) {
  const auto all = parameters_of(call, s.operands);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Value& v = *all[i];
    if (is_none(v)) {
      s.parameters[i] = no_limit(s.common, i > 0);
    } else if (v.kind == ValueKind::integer || v.kind == ValueKind::real || s.common == DType::boolean) {
      if (!read_number(s, v, s.rounds_parameters, &s.parameters[i])) return false;
      if (v.kind == ValueKind::real && std::isnan(v.real)) return false;
      if (s.is_difference && !read_opposite(s, v, &s.parameters[i])) return false;
      if (s.is_power) read_exponent(s, v, &s.parameters[i]);
    } else if (v.kind != ValueKind::string) {
      return false;
    }
  }
  return true;
}

bool read_numbers(const Call& call, State& s) {
  for (int k = 0; k < s.operands; ++k) {
    const Value& v = call[static_cast<std::size_t>(k)];
    if (v.kind == ValueKind::tensor) continue;
    if (s.is_limited && is_none(v))
      s.numbers[k] = no_limit(s.common, k == 2);
    else if (!read_number(s, v, s.rounds[k], &s.numbers[k]))
      return false;
  }
  return read_parameters(call, s);
}

// Divisions of integers want divisors other than 0.
bool divides(const Call& call, const State& s) {
  if (!s.is_division) return true;
  const Value& divisor = call[1];
  if (divisor.kind != ValueKind::tensor) return s.numbers[1] != 0;
  Slot gathered[tile];
  const auto n = static_cast<std::size_t>(divisor.tensor->count());
  for (std::size_t done = 0; done < n; done += tile) {
    const std::size_t now = std::min(tile, n - done);
    s.gather[1](divisor.tensor->data + done * s.operand_bytes[1], 1, gathered, now);
    if (std::find(gathered, gathered + now, 0) != gathered + now) return false;
  }
  return true;
}

Tensor& out_of(const Call& call) { return *call.arguments.back()->tensor; }

bool result_shape(const Call& call, int operands, Shape& shape) {
  for (int k = 0; k < operands; ++k)
    if (call[static_cast<std::size_t>(k)].kind == ValueKind::tensor &&
        !broadcast(shape, view_of(call, static_cast<std::size_t>(k)).shape))
      return false;
  return true;
}

Nest make_nest(const Call& call, int operands, const Shape& shape) {
  const Tensor& out = out_of(call);
  Strides strides[most_operands] = {strides_of(out)};
  for (int k = 0; k < operands; ++k)
    if (call[static_cast<std::size_t>(k)].kind == ValueKind::tensor)
      strides[k + 1] = strides_in(shape, view_of(call, static_cast<std::size_t>(k)));
  return nest_of(shape, out.dim_order, std::span(strides).first(static_cast<std::size_t>(operands) + 1));
}

// The dtype that an operation is computed in. Of one that only floats have, integers become floats.
template <Pointwise operation>
std::optional<DType> common_of(const Call& call) {
  Promotion promotion;
  for (int k = operation == Pointwise::where; k < kernels::operands_of(operation); ++k) {
    const Value& v = call[static_cast<std::size_t>(k)];
    if (operation != Pointwise::clamp_between || !is_none(v)) promotion.add(v);
  }
  auto common = promotion.result();
  if (common && element_of(*common) != Element::f32 && !kernels::has_row<operation, Element::i64>())
    common = DType::float32;
  return common;
}

Element element_of_operand(Pointwise operation, int k, Element element) {
  return operation == Pointwise::where && k == 0 ? Element::boolean : element;
}

// Products and quotients take one number as it is.
bool takes_number(Pointwise operation, int k) {
  return k == 1 && operation >= Pointwise::mul && operation <= Pointwise::div_floor;
}
bool is_slope(Pointwise operation) { return operation == Pointwise::leaky_relu || operation == Pointwise::elu; }
bool is_division(Pointwise operation) { return operation >= Pointwise::div_trunc && operation <= Pointwise::remainder; }

template <Pointwise operation>
bool plan(const Call& call, Element element, kernels::FindRow find_row, State& s) {
  constexpr int operands = kernels::operands_of(operation);
  if (!call.set || call.arguments.size() <= operands || call.arguments.back()->kind != ValueKind::tensor) return false;
  for (int k = 0; k < operands; ++k)
    if (call[static_cast<std::size_t>(k)].kind > ValueKind::tensor) return false;
  const Tensor& out = out_of(call);
  const auto common = common_of<operation>(call);
  if (!common || element_of(*common) != element) return false;
  s.common = *common, s.operands = operands;
  s.row = find_row(*call.set);
  s.is_division = is_division(operation) && element == Element::i64;
  s.is_limited = operation == Pointwise::clamp_between;
  s.is_power = operation == Pointwise::power;
  s.is_difference = operation == Pointwise::sub || operation == Pointwise::rsub;
  const DType result = kernels::gives_truth(operation) ? DType::boolean : *common;
  if (!s.row || out.dtype != result) return false;
  s.result_bytes = static_cast<std::uint8_t>(out.element_bytes());
  const bool is_half = element == Element::f32 && *common != DType::float32;
  if (is_half) s.round = find_store(element, *common), s.widen = find_gather(*common, element);
  if (result != DType::boolean && result != dtype_of(element) && !(s.store = find_store(element, result))) return false;
  for (int k = 0; k < operands; ++k) {
    const Element wanted = element_of_operand(operation, k, element);
    const Value& v = call[static_cast<std::size_t>(k)];
    const DType from = v.kind == ValueKind::tensor ? v.tensor->dtype : dtype_of(wanted);
    const bool is_condition = wanted != element;
    if (is_condition ? from != DType::boolean && from != DType::uint8
                     : v.kind == ValueKind::tensor && !holds(*common, from))
      return false;
    s.gather[k] = find_gather(from, wanted);
    if (!s.gather[k]) return false;
    s.operand_bytes[k] = static_cast<std::uint8_t>(find_dtype(static_cast<int>(from))->bytes);
    s.converts[k] = from != dtype_of(wanted);
    s.rounds[k] = is_half && !is_condition && from != *common;
    if (!s.rounds[k] || !takes_number(operation, k)) continue;
    if (v.kind == ValueKind::tensor && v.tensor->moves) return false;  // only its execution says whether it is one
    s.rounds[k] = v.kind == ValueKind::tensor && v.tensor->count() != 1;
  }
  s.rounds_parameters = is_half && !is_slope(operation);
  return read_numbers(call, s);
}

// Operands that are read through views lie together, or are one, in the innermost loop: others are faster copied first.
bool views_lie_well(const Call& call, int operands) {
  Shape shape;
  if (!call.fusion || !is_fixed(call)) return !call.fusion;
  for (std::size_t i = static_cast<std::size_t>(operands); i < call.fusion->views.size(); ++i)
    if (call.fusion->views[i]) return false;
  if (!result_shape(call, operands, shape) || !std::ranges::equal(shape.span(), out_of(call).shape())) return false;
  const Nest nest = make_nest(call, operands, shape);
  for (int k = 0; k < operands && nest.loops > 0; ++k) {
    const View* view = call.fusion->views[static_cast<std::size_t>(k)];
    if (!view) continue;
    const std::ptrdiff_t stride = nest.stride[k + 1][nest.loops - 1];
    if (!is_f32(call[static_cast<std::size_t>(k)]) || (stride != 0 && stride != 1)) return false;
  }
  return true;
}

bool always(const Call&) { return true; }

template <Pointwise operation, Element element, bool (*applies)(const Call&)>
bool accepts(const Call& call) {
  State s;
  return plan<operation>(call, element, kernels::find_row<operation, element>, s) && applies(call) &&
         views_lie_well(call, kernels::operands_of(operation));
}

template <Pointwise operation, Element element>
const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<State>(1);
  if (made.empty()) return nullptr;
  State& s = made[0];
  plan<operation>(call, element, kernels::find_row<operation, element>, s);
  s.fixed = is_fixed(call);
  for (int k = 0; k < s.operands && call.fusion; ++k)
    if (const View* view = call.fusion->views[static_cast<std::size_t>(k)]) s.first[k] = view->first;
  Shape shape;
  if (s.fixed && result_shape(call, s.operands, shape)) {
    s.fits = std::ranges::equal(shape.span(), out_of(call).shape());
    if (s.fits) s.nest = make_nest(call, s.operands, shape);
  }
  return &s;
}

// Of the outermost loop those in the range.
void run_rows(const State& s, const Nest& whole, kernels::Range range, const Call& call) {
  alignas(64) std::byte gathered[most_operands_in][tile * sizeof(Slot)];
  alignas(64) std::byte results[tile * sizeof(Slot)];
  const std::byte* base[most_operands_in];
  const void* filled[most_operands_in] = {};  // the one element that is repeated in `gathered`
  Nest nest = whole;
  nest.count[0] = static_cast<std::ptrdiff_t>(range.size());
  const auto first = [&](int k) { return static_cast<std::ptrdiff_t>(range.begin) * nest.stride[k][0]; };
  for (int k = 0; k < s.operands; ++k) {
    const Value& v = call[static_cast<std::size_t>(k)];
    base[k] = v.kind == ValueKind::tensor ? v.tensor->data : reinterpret_cast<const std::byte*>(&s.numbers[k]);
    base[k] += (s.first[k] + first(k + 1)) * s.operand_bytes[k];
  }
  std::byte* out = out_of(call).data + first(0) * s.result_bytes;
  const int inner = nest.loops - 1;
  bool direct[most_operands_in], all_direct = !s.store;
  for (int k = 0; k < s.operands; ++k) {
    direct[k] = nest.loops > 0 && !s.converts[k] && nest.stride[k + 1][inner] == 1;
    all_direct = all_direct && direct[k];
  }
  each_row(nest, s.operands + 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t count) {
    const std::size_t n = static_cast<std::size_t>(count), step = all_direct ? n : tile;
    for (std::size_t done = 0; done < n; done += step) {
      const std::size_t now = std::min(step, n - done);
      const void* operands[most_operands_in];
      for (int k = 0; k < s.operands; ++k) {
        const std::ptrdiff_t stride = nest.stride[k + 1][inner];
        const std::byte* from = base[k] + (at[k + 1] + stride * static_cast<std::ptrdiff_t>(done)) * s.operand_bytes[k];
        operands[k] = direct[k] ? static_cast<const void*>(from) : gathered[k];
        if (direct[k] || (stride == 0 && filled[k] == from)) continue;
        const std::size_t gather = stride == 0 ? std::min(tile, n) : now;
        s.gather[k](from, stride, gathered[k], gather);
        if (s.rounds[k]) s.round(gathered[k], results, gather), s.widen(results, 1, gathered[k], gather);
        filled[k] = from;
      }
      std::byte* to = out + (at[0] + static_cast<std::ptrdiff_t>(done)) * s.result_bytes;
      s.row(operands, s.store ? results : to, now, s.parameters);
      if (s.store) s.store(results, to, now);
    }
  });
}

void share_rows(const State& s, const Nest& nest, const Call& call, const kernels::Threads& threads) {
  if (nest.loops == 0) return;
  std::size_t row = 1;
  for (int d = 1; d < nest.loops; ++d) row *= static_cast<std::size_t>(nest.count[d]);
  kernels::share(threads, static_cast<std::size_t>(nest.count[0]), row,
                 [&](kernels::Range range) { run_rows(s, nest, range, call); });
}

bool run(const Step& step, Run& run) {
  const State& s = *static_cast<const State*>(step.state);
  if (s.fixed) {
    if (!s.fits || !divides(step.call, s)) return false;
    share_rows(s, s.nest, step.call, run.threads);
    return true;
  }
  State now = s;
  if (!read_numbers(step.call, now)) return false;
  Shape shape;
  if (!divides(step.call, now) || !result_shape(step.call, s.operands, shape) ||
      !resize(out_of(step.call), shape.span()))
    return false;
  share_rows(now, make_nest(step.call, s.operands, shape), step.call, run.threads);
  return true;
}

template <Pointwise operation, Element element, bool (*applies)(const Call&) = always>
constexpr Kernel pointwise(const char* name) {
  return {name, accepts<operation, element, applies>, prepare<operation, element>, run, true};
}

bool is_limited(const Call& call) { return call[1].kind != ValueKind::none || call[2].kind != ValueKind::none; }

bool is_floating(const Call& call) { return element_of(call.tensor(0).dtype) == Element::f32; }

// pow.Tensor_Scalar: exponents have formulas of their own, but for roots of float16.
template <int halves>
bool has_exponent(const Call& call) {
  const Value& exponent = call[1];
  if (halves % 2 != 0 && call.tensor(0).dtype == DType::float16) return false;
  return is_floating(call) && !exponent.changes &&
         (exponent.kind == ValueKind::real ? 2 * exponent.real == halves : 2 * exponent.integer == halves);
}
bool is_power(const Call& call) { return is_floating(call) && !call[1].changes; }
bool is_whole_power(const Call& call) {
  return !call[1].changes && call[1].kind == ValueKind::integer && call[1].integer >= 0;
}
// 1 has the power 1 in the dtype of the out.
bool is_base(const Call& call) {
  const Value& base = call[0];
  return !base.changes &&
         (base.kind == ValueKind::real ? base.real != 1 : base.kind == ValueKind::integer && base.integer != 1);
}

// What is subtracted is no bool.
bool has_no_bool(const Call& call) {
  const auto is_bool = [](const Value& v) {
    return v.kind == ValueKind::boolean || (v.kind == ValueKind::tensor && v.tensor->dtype == DType::boolean);
  };
  return !is_bool(call[0]) && !is_bool(call[1]);
}

bool is_exact(const Call& call) { return is_floating(call) && call[1].string() == "none"; }
bool is_by_tanh(const Call& call) { return is_floating(call) && call[1].string() == "tanh"; }

// div has a rounding mode, or none.
bool has_no_mode(const Call& call) { return call.arguments.size() == 3 || is_none(call[2]); }
bool is_floor(const Call& call) { return call[2].kind == ValueKind::string && call[2].string() == "floor"; }
// Of half floats the quotient is rounded before its fraction is dropped.
bool is_trunc(const Call& call) {
  const DType dtype = call.arguments.back()->tensor->dtype;
  return dtype != DType::float16 && dtype != DType::bfloat16 && call[2].kind == ValueKind::string &&
         call[2].string() == "trunc";
}

using enum Element;

}  // namespace

constexpr Kernel add_f32 = pointwise<Pointwise::add, f32>("add_f32");
constexpr Kernel add_i64 = pointwise<Pointwise::add, i64>("add_i64");
constexpr Kernel sub_f32 = pointwise<Pointwise::sub, f32, has_no_bool>("sub_f32");
constexpr Kernel sub_i64 = pointwise<Pointwise::sub, i64, has_no_bool>("sub_i64");
constexpr Kernel rsub_f32 = pointwise<Pointwise::rsub, f32, has_no_bool>("rsub_f32");
constexpr Kernel rsub_i64 = pointwise<Pointwise::rsub, i64, has_no_bool>("rsub_i64");
constexpr Kernel mul_f32 = pointwise<Pointwise::mul, f32>("mul_f32");
constexpr Kernel mul_i64 = pointwise<Pointwise::mul, i64>("mul_i64");
constexpr Kernel mul_bool = pointwise<Pointwise::mul, boolean>("mul_bool");
constexpr Kernel minimum_f32 = pointwise<Pointwise::minimum, f32>("minimum_f32");
constexpr Kernel minimum_i64 = pointwise<Pointwise::minimum, i64>("minimum_i64");
constexpr Kernel maximum_f32 = pointwise<Pointwise::maximum, f32>("maximum_f32");
constexpr Kernel maximum_i64 = pointwise<Pointwise::maximum, i64>("maximum_i64");
constexpr Kernel eq_f32 = pointwise<Pointwise::eq, f32>("eq_f32");
constexpr Kernel eq_i64 = pointwise<Pointwise::eq, i64>("eq_i64");
constexpr Kernel eq_bool = pointwise<Pointwise::eq, boolean>("eq_bool");
constexpr Kernel ne_f32 = pointwise<Pointwise::ne, f32>("ne_f32");
constexpr Kernel ne_i64 = pointwise<Pointwise::ne, i64>("ne_i64");
constexpr Kernel ne_bool = pointwise<Pointwise::ne, boolean>("ne_bool");
constexpr Kernel lt_f32 = pointwise<Pointwise::lt, f32>("lt_f32");
constexpr Kernel lt_i64 = pointwise<Pointwise::lt, i64>("lt_i64");
constexpr Kernel le_f32 = pointwise<Pointwise::le, f32>("le_f32");
constexpr Kernel le_i64 = pointwise<Pointwise::le, i64>("le_i64");
constexpr Kernel gt_f32 = pointwise<Pointwise::gt, f32>("gt_f32");
constexpr Kernel gt_i64 = pointwise<Pointwise::gt, i64>("gt_i64");
constexpr Kernel ge_f32 = pointwise<Pointwise::ge, f32>("ge_f32");
constexpr Kernel ge_i64 = pointwise<Pointwise::ge, i64>("ge_i64");
constexpr Kernel logical_and_f32 = pointwise<Pointwise::logical_and, f32>("logical_and_f32");
constexpr Kernel logical_and_i64 = pointwise<Pointwise::logical_and, i64>("logical_and_i64");
constexpr Kernel logical_and_bool = pointwise<Pointwise::logical_and, boolean>("logical_and_bool");
constexpr Kernel logical_or_f32 = pointwise<Pointwise::logical_or, f32>("logical_or_f32");
constexpr Kernel logical_or_i64 = pointwise<Pointwise::logical_or, i64>("logical_or_i64");
constexpr Kernel logical_or_bool = pointwise<Pointwise::logical_or, boolean>("logical_or_bool");
constexpr Kernel logical_not_f32 = pointwise<Pointwise::logical_not, f32>("logical_not_f32");
constexpr Kernel logical_not_i64 = pointwise<Pointwise::logical_not, i64>("logical_not_i64");
constexpr Kernel logical_not_bool = pointwise<Pointwise::logical_not, boolean>("logical_not_bool");
constexpr Kernel abs_f32 = pointwise<Pointwise::abs, f32>("abs_f32");
constexpr Kernel abs_i64 = pointwise<Pointwise::abs, i64>("abs_i64");
constexpr Kernel neg_f32 = pointwise<Pointwise::neg, f32>("neg_f32");
constexpr Kernel neg_i64 = pointwise<Pointwise::neg, i64>("neg_i64");
constexpr Kernel relu_f32 = pointwise<Pointwise::relu, f32>("relu_f32");
constexpr Kernel relu_i64 = pointwise<Pointwise::relu, i64>("relu_i64");
constexpr Kernel clamp_f32 = pointwise<Pointwise::clamp, f32, is_limited>("clamp_f32");
constexpr Kernel clamp_i64 = pointwise<Pointwise::clamp, i64, is_limited>("clamp_i64");
constexpr Kernel sqrt_f32 = pointwise<Pointwise::sqrt, f32>("sqrt_f32");
constexpr Kernel rsqrt_f32 = pointwise<Pointwise::rsqrt, f32>("rsqrt_f32");
constexpr Kernel reciprocal_f32 = pointwise<Pointwise::reciprocal, f32>("reciprocal_f32");
constexpr Kernel exp_f32 = pointwise<Pointwise::exp, f32>("exp_f32");
constexpr Kernel log_f32 = pointwise<Pointwise::log, f32>("log_f32");
constexpr Kernel sin_f32 = pointwise<Pointwise::sin, f32>("sin_f32");
constexpr Kernel cos_f32 = pointwise<Pointwise::cos, f32>("cos_f32");
constexpr Kernel tanh_f32 = pointwise<Pointwise::tanh, f32>("tanh_f32");
constexpr Kernel erf_f32 = pointwise<Pointwise::erf, f32>("erf_f32");
constexpr Kernel sigmoid_f32 = pointwise<Pointwise::sigmoid, f32>("sigmoid_f32");
constexpr Kernel where_f32 = pointwise<Pointwise::where, f32>("where_f32");
constexpr Kernel where_i64 = pointwise<Pointwise::where, i64>("where_i64");
constexpr Kernel where_bool = pointwise<Pointwise::where, boolean>("where_bool");
constexpr Kernel gelu_f32 = pointwise<Pointwise::gelu, f32, is_exact>("gelu_f32");
constexpr Kernel gelu_tanh_f32 = pointwise<Pointwise::gelu_tanh, f32, is_by_tanh>("gelu_tanh_f32");
constexpr Kernel pow_square_f32 = pointwise<Pointwise::square, f32, has_exponent<4>>("pow_square_f32");
constexpr Kernel pow_root_f32 = pointwise<Pointwise::sqrt, f32, has_exponent<1>>("pow_root_f32");
constexpr Kernel pow_inverse_root_f32 = pointwise<Pointwise::rsqrt, f32, has_exponent<-1>>("pow_inverse_root_f32");
constexpr Kernel pow_inverse_f32 = pointwise<Pointwise::reciprocal, f32, has_exponent<-2>>("pow_inverse_f32");
constexpr Kernel pow_cube_f32 = pointwise<Pointwise::cube, f32, has_exponent<6>>("pow_cube_f32");
constexpr Kernel pow_inverse_square_f32 =
    pointwise<Pointwise::inverse_square, f32, has_exponent<-4>>("pow_inverse_square_f32");
constexpr Kernel power_f32 = pointwise<Pointwise::power, f32, is_power>("power_f32");
constexpr Kernel power_i64 = pointwise<Pointwise::pow, i64, is_whole_power>("power_i64");
constexpr Kernel add_bool = pointwise<Pointwise::add, boolean>("add_bool");
constexpr Kernel div_f32 = pointwise<Pointwise::div, f32, has_no_mode>("div_f32");
constexpr Kernel div_trunc_f32 = pointwise<Pointwise::div_trunc, f32, is_trunc>("div_trunc_f32");
constexpr Kernel div_trunc_i64 = pointwise<Pointwise::div_trunc, i64, is_trunc>("div_trunc_i64");
constexpr Kernel div_floor_f32 = pointwise<Pointwise::div_floor, f32, is_floor>("div_floor_f32");
constexpr Kernel div_floor_i64 = pointwise<Pointwise::div_floor, i64, is_floor>("div_floor_i64");
constexpr Kernel floor_divide_f32 = pointwise<Pointwise::div_floor, f32>("floor_divide_f32");
constexpr Kernel floor_divide_i64 = pointwise<Pointwise::div_floor, i64>("floor_divide_i64");
constexpr Kernel fmod_f32 = pointwise<Pointwise::fmod, f32>("fmod_f32");
constexpr Kernel fmod_i64 = pointwise<Pointwise::fmod, i64>("fmod_i64");
constexpr Kernel remainder_f32 = pointwise<Pointwise::remainder, f32>("remainder_f32");
constexpr Kernel remainder_i64 = pointwise<Pointwise::remainder, i64>("remainder_i64");
constexpr Kernel pow_f32 = pointwise<Pointwise::pow, f32>("pow_f32");
constexpr Kernel pow_i64 = pointwise<Pointwise::pow, i64>("pow_i64");
constexpr Kernel pow_scalar_f32 = pointwise<Pointwise::pow, f32, is_base>("pow_scalar_f32");
constexpr Kernel pow_scalar_i64 = pointwise<Pointwise::pow, i64, is_base>("pow_scalar_i64");
constexpr Kernel atan2_f32 = pointwise<Pointwise::atan2, f32>("atan2_f32");
constexpr Kernel bitwise_and_i64 = pointwise<Pointwise::bitwise_and, i64>("bitwise_and_i64");
constexpr Kernel bitwise_and_bool = pointwise<Pointwise::bitwise_and, boolean>("bitwise_and_bool");
constexpr Kernel bitwise_or_i64 = pointwise<Pointwise::bitwise_or, i64>("bitwise_or_i64");
constexpr Kernel bitwise_or_bool = pointwise<Pointwise::bitwise_or, boolean>("bitwise_or_bool");
constexpr Kernel bitwise_xor_i64 = pointwise<Pointwise::bitwise_xor, i64>("bitwise_xor_i64");
constexpr Kernel bitwise_xor_bool = pointwise<Pointwise::bitwise_xor, boolean>("bitwise_xor_bool");
constexpr Kernel bitwise_not_i64 = pointwise<Pointwise::bitwise_not, i64>("bitwise_not_i64");
constexpr Kernel bitwise_not_bool = pointwise<Pointwise::bitwise_not, boolean>("bitwise_not_bool");
constexpr Kernel shift_left_i64 = pointwise<Pointwise::shift_left, i64>("shift_left_i64");
constexpr Kernel shift_right_i64 = pointwise<Pointwise::shift_right, i64>("shift_right_i64");
constexpr Kernel logical_xor_f32 = pointwise<Pointwise::logical_xor, f32>("logical_xor_f32");
constexpr Kernel logical_xor_i64 = pointwise<Pointwise::logical_xor, i64>("logical_xor_i64");
constexpr Kernel logical_xor_bool = pointwise<Pointwise::logical_xor, boolean>("logical_xor_bool");
constexpr Kernel isnan_f32 = pointwise<Pointwise::isnan, f32>("isnan_f32");
constexpr Kernel isnan_i64 = pointwise<Pointwise::isnan, i64>("isnan_i64");
constexpr Kernel isnan_bool = pointwise<Pointwise::isnan, boolean>("isnan_bool");
constexpr Kernel isinf_f32 = pointwise<Pointwise::isinf, f32>("isinf_f32");
constexpr Kernel isinf_i64 = pointwise<Pointwise::isinf, i64>("isinf_i64");
constexpr Kernel isinf_bool = pointwise<Pointwise::isinf, boolean>("isinf_bool");
constexpr Kernel sign_f32 = pointwise<Pointwise::sign, f32>("sign_f32");
constexpr Kernel sign_i64 = pointwise<Pointwise::sign, i64>("sign_i64");
constexpr Kernel sign_bool = pointwise<Pointwise::sign, boolean>("sign_bool");
constexpr Kernel floor_f32 = pointwise<Pointwise::floor, f32>("floor_f32");
constexpr Kernel floor_i64 = pointwise<Pointwise::floor, i64>("floor_i64");
constexpr Kernel ceil_f32 = pointwise<Pointwise::ceil, f32>("ceil_f32");
constexpr Kernel ceil_i64 = pointwise<Pointwise::ceil, i64>("ceil_i64");
constexpr Kernel trunc_f32 = pointwise<Pointwise::trunc, f32>("trunc_f32");
constexpr Kernel trunc_i64 = pointwise<Pointwise::trunc, i64>("trunc_i64");
constexpr Kernel round_f32 = pointwise<Pointwise::round, f32>("round_f32");
constexpr Kernel round_i64 = pointwise<Pointwise::round, i64>("round_i64");
constexpr Kernel leaky_relu_f32 = pointwise<Pointwise::leaky_relu, f32, is_floating>("leaky_relu_f32");
constexpr Kernel elu_f32 = pointwise<Pointwise::elu, f32, is_floating>("elu_f32");
constexpr Kernel clamp_between_f32 = pointwise<Pointwise::clamp_between, f32, is_limited>("clamp_between_f32");
constexpr Kernel clamp_between_i64 = pointwise<Pointwise::clamp_between, i64, is_limited>("clamp_between_i64");
constexpr Kernel expm1_f32 = pointwise<Pointwise::expm1, f32>("expm1_f32");
constexpr Kernel log1p_f32 = pointwise<Pointwise::log1p, f32>("log1p_f32");
constexpr Kernel log2_f32 = pointwise<Pointwise::log2, f32>("log2_f32");
constexpr Kernel log10_f32 = pointwise<Pointwise::log10, f32>("log10_f32");
constexpr Kernel tan_f32 = pointwise<Pointwise::tan, f32>("tan_f32");
constexpr Kernel asin_f32 = pointwise<Pointwise::asin, f32>("asin_f32");
constexpr Kernel acos_f32 = pointwise<Pointwise::acos, f32>("acos_f32");
constexpr Kernel atan_f32 = pointwise<Pointwise::atan, f32>("atan_f32");
constexpr Kernel sinh_f32 = pointwise<Pointwise::sinh, f32>("sinh_f32");
constexpr Kernel cosh_f32 = pointwise<Pointwise::cosh, f32>("cosh_f32");
constexpr Kernel asinh_f32 = pointwise<Pointwise::asinh, f32>("asinh_f32");
constexpr Kernel acosh_f32 = pointwise<Pointwise::acosh, f32>("acosh_f32");
constexpr Kernel atanh_f32 = pointwise<Pointwise::atanh, f32>("atanh_f32");

}  // namespace assay::optimized
