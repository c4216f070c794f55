#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/numbers.h"
#include "optimized/selection/views.h"

// Elementwise kernels: each result is computed from one number, or from two or three that are broadcast.
namespace assay::optimized {
namespace {

using kernels::Operation;

constexpr int most_operands_in = 3;
constexpr std::size_t tile = 256;  // elements that are gathered at once
using Slot = std::int64_t;         // holds one element of any type

// What an operation decides about its operands and parameters.
struct Traits {
  bool is_division = false;        // whose divisor, if it is an integer, must not be 0
  bool is_limited = false;         // whether the second and the third operand are limits; one of them may be None
  bool has_condition = false;      // its first operand is a truth
  bool takes_number = false;       // a number as the second operand is not rounded to a half type
  bool has_slope = false;          // its parameters are not rounded to a half type
  bool is_power = false;           // its parameter is a double
  bool is_difference = false;      // its parameter is the opposite of the call's
  bool has_bounds = false;         // its parameters are limits, which a NaN cannot be
  bool takes_truths = false;       // a parameter may be a bool in a computation of numbers
  bool takes_unsigned = false;     // it is computed in unsigned dtypes of 16 bits or more
  bool gives_real = false;         // results are converted to no wide unsigned dtype and not to complex32
  bool keeps_dtype = false;        // results are not converted to another dtype of the out
  bool keeps_with_number = false;  // results are not converted if the second operand is a number
};

constexpr Traits traits_of(const Operation& operation) {
  const auto is_any_of = [&](std::initializer_list<Operation> all) {
    return std::ranges::find(all, operation) != all.end();
  };
  return {
      .is_division = is_any_of({"div_trunc", "div_floor", "fmod", "remainder"}),
      .is_limited = is_any_of({"clamp_between"}),
      .has_condition = is_any_of({"where"}),
      .takes_number = is_any_of({"mul", "div", "div_trunc", "div_floor"}),
      .has_slope = is_any_of({"leaky_relu", "elu", "round_decimals"}),
      .is_power = is_any_of({"power"}),
      .is_difference = is_any_of({"sub", "rsub"}),
      .has_bounds = is_any_of({"clamp"}),
      .takes_truths = is_any_of({"leaky_relu", "elu", "power"}),
      .takes_unsigned = is_any_of({"mul", "eq", "ne", "bitwise_and", "bitwise_or", "bitwise_xor", "where", "floor",
                                   "ceil", "trunc", "round", "isnan", "isinf"}),
      .gives_real = is_any_of({"logical_not"}),
      .keeps_dtype = is_any_of({"neg", "relu", "clamp", "where", "gelu", "gelu_tanh", "isnan", "isinf", "sign", "floor",
                                "ceil", "trunc", "round", "round_decimals", "leaky_relu", "elu", "abs", "bitwise_not"}),
      .keeps_with_number = is_any_of({"add", "sub", "rsub", "mul", "div", "div_trunc", "div_floor"})};
}

// An operation on elements of one type.
struct Computation {
  Traits traits;
  Element element;
  kernels::FindFormula find_formula;
  bool (*has_integers)();  // the operation is defined on integers, too
};
template <Operation operation, Element element>
constexpr Computation computation{traits_of(operation), element, kernels::find_formula<operation, element>,
                                  kernels::has_formula<operation, Element::i64>};

struct State {
  bool fixed = false, fits = false;
  Traits traits;
  DType common = DType::float32;
  std::uint8_t operands = 0, operand_bytes[most_operands_in] = {}, result_bytes = 0;
  kernels::PointwiseRow row = nullptr;
  Gather gather[most_operands_in] = {};
  bool converts[most_operands_in] = {};  // its elements are converted before the row reads them
  bool rounds[most_operands_in] =
      {};  // they are rounded to the common dtype, which is narrower than the type that the row reads
  // Whether an execution decides if operand 1 is rounded: it is not if it is one number.
  bool asks_count = false;
  bool rounds_parameters = false;
  Store store = nullptr;  // the function that stores results; null if they are stored as the row writes them
  // Rounds to a common dtype of half floats, or wraps to one of narrow integers; `widen` reads it back.
  Store round = nullptr;
  Gather widen = nullptr;
  // Convert results, as they are stored, to another dtype of the out. `store_cast` is null if `cast` gives its
  // elements.
  Gather cast = nullptr;
  Store store_cast = nullptr;
  std::ptrdiff_t first[most_operands_in] = {};  // elements before the operand's first one
  Slot numbers[most_operands_in] = {}, parameters[kernels::most_parameters] = {};
  Nest nest;
};

// The parameters of a call, which are behind the operands and before the out.
std::span<Value* const> parameters_of(const Call& call, int operands) {
  const std::size_t n = call.arguments.size() - 1, first = static_cast<std::size_t>(operands);
  return call.arguments.subspan(first, std::min(n - first, kernels::most_parameters));
}

bool is_none(const Value& v) { return v.kind == ValueKind::none && !v.changes; }

// A limit from below or above that every number keeps.
Slot no_limit(DType common, bool above) {
  Slot limit = above ? std::numeric_limits<Slot>::max() : std::numeric_limits<Slot>::min();
  const double infinite = above ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  const float narrow = static_cast<float>(infinite);
  if (element_of(common) == Element::f32) std::memcpy(&limit, &narrow, sizeof narrow);
  if (element_of(common) == Element::f64) std::memcpy(&limit, &infinite, sizeof infinite);
  return limit;
}

bool read_number(const State& s, const Value& v, bool rounds, Slot* to, bool is_operand = false) {
  return rounds ? rounded_number_as(s.common, v, to, is_operand) : number_as(s.common, v, to, is_operand);
}

// The opposite, of the same kind, of a number that was read: an integer 0 has no sign. An opposite of an unsigned type
// wraps, as results do; the least integer has no opposite.
bool read_opposite(const State& s, Value v, Slot* to) {
  const bool wraps = v.kind == ValueKind::integer && v.integer > 0 && element_of(s.common) == Element::i64;
  if (v.kind == ValueKind::real) v.real = -v.real;
  if (v.kind == ValueKind::integer && __builtin_sub_overflow(std::int64_t{0}, v.integer, &v.integer)) return false;
  return wraps ? (*to = v.integer, true) : read_number(s, v, s.rounds_parameters, to);
}

// An exponent. Only a half type rounds it, which the exponent must then fit.
bool read_exponent(const State& s, const Value& v, Slot* to) {
  double exponent = v.kind == ValueKind::real ? v.real : static_cast<double>(v.integer);
  if (s.rounds_parameters) {
    float rounded;
    if (!read_number(s, v, true, to)) return false;
    std::memcpy(&rounded, to, sizeof rounded);
    exponent = static_cast<double>(rounded);
  }
  std::memcpy(to, &exponent, sizeof exponent);
  return true;
}

bool read_parameter(const State& s, Value v, Slot* to) {
  const bool is_truth = v.kind == ValueKind::boolean;
  if (is_truth && s.common != DType::boolean) {
    if (!s.traits.takes_truths) return false;
    v.kind = ValueKind::integer, v.integer = v.boolean;
  }
  if (v.kind == ValueKind::real && (!optimized::is_floating(s.common) || (s.traits.has_bounds && std::isnan(v.real))))
    return false;
  if (s.traits.is_power) return read_exponent(s, v, to);
  return read_number(s, v, s.rounds_parameters, to) && (!s.traits.is_difference || read_opposite(s, v, to));
}

bool read_parameters(const Call& call, State& s) {
  const auto all = parameters_of(call, s.operands);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Value& v = *all[i];
    if (is_none(v)) {
      s.parameters[i] = no_limit(s.common, i > 0);
    } else if (v.kind == ValueKind::integer || v.kind == ValueKind::real || v.kind == ValueKind::boolean) {
      if (!read_parameter(s, v, &s.parameters[i])) return false;
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
    if (s.traits.is_limited && is_none(v))
      s.numbers[k] = no_limit(s.common, k == 2);
    else if (!read_number(s, v, s.rounds[k], &s.numbers[k], true))
      return false;
  }
  return read_parameters(call, s);
}

// Reads elements of a tensor as the row reads them. Uses the memory `rounded`, which is as large as `gathered`.
void gather(const State& s, int k, const std::byte* from, std::ptrdiff_t stride, std::byte* gathered,
            std::byte* rounded, std::size_t n) {
  s.gather[k](from, stride, gathered, n);
  if (s.rounds[k]) s.round(gathered, rounded, n), s.widen(rounded, 1, gathered, n);
}

// Integers cannot be divided by 0.
bool divides(const Call& call, const State& s) {
  if (!s.traits.is_division || element_of(s.common) != Element::i64) return true;
  const Value& divisor = call[1];
  if (divisor.kind != ValueKind::tensor) return s.numbers[1] != 0;
  Slot gathered[tile], rounded[tile];
  const auto n = static_cast<std::size_t>(divisor.tensor->count());
  for (std::size_t done = 0; done < n; done += tile) {
    const std::size_t now = std::min(tile, n - done);
    gather(s, 1, divisor.tensor->data + done * s.operand_bytes[1], 1, reinterpret_cast<std::byte*>(gathered),
           reinterpret_cast<std::byte*>(rounded), now);
    if (std::find(gathered, gathered + now, 0) != gathered + now) return false;
  }
  return true;
}

bool result_shape(const Call& call, int operands, Shape& shape) {
  for (int k = 0; k < operands; ++k)
    if (call[static_cast<std::size_t>(k)].kind == ValueKind::tensor &&
        !broadcast(shape, view_of(call, static_cast<std::size_t>(k)).shape))
      return false;
  return true;
}

Nest make_nest(const Call& call, int operands, const Shape& shape) {
  const Tensor& out = call.out();
  Strides strides[most_operands] = {strides_of(out)};
  for (int k = 0; k < operands; ++k)
    if (call[static_cast<std::size_t>(k)].kind == ValueKind::tensor)
      strides[k + 1] = strides_in(shape, view_of(call, static_cast<std::size_t>(k)));
  return nest_of(shape, out.dim_order, std::span(strides).first(static_cast<std::size_t>(operands) + 1));
}

// The type in which an operation computes in a dtype; nothing if it does not.
std::optional<Element> element_for(const Traits& traits, DType common) {
  return traits.takes_unsigned ? carrier_of(common) : element_of(common);
}

// The dtype that a call is computed in. Integers become floats where the operation is defined on floats alone.
std::optional<DType> common_of(const Call& call, const Computation& c, int operands) {
  Promotion promotion;
  for (int k = c.traits.has_condition; k < operands; ++k) {
    const Value& v = call[static_cast<std::size_t>(k)];
    if (!c.traits.is_limited || !is_none(v)) promotion.add(v);
  }
  if (c.traits.is_power) promotion.add(call[1]);
  const auto common = promotion.result();
  const bool is_whole = common && !optimized::is_floating(*common) && !is_complex(*common);
  return is_whole && !c.has_integers() ? std::optional(DType::float32) : common;
}

// Whether operand k can be read as the computation wants it.
bool plan_operand(const Call& call, const Computation& c, int k, bool is_half, State& s) {
  const bool is_condition = c.traits.has_condition && k == 0;
  const Element wanted = is_condition ? Element::boolean : c.element;
  const Value& v = call[static_cast<std::size_t>(k)];
  const bool is_tensor = v.kind == ValueKind::tensor;
  const DType from = is_tensor ? v.tensor->dtype : dtype_of(wanted);
  if (is_condition && from != DType::boolean && from != DType::uint8) return false;
  // A tensor of rank 0 may have a wider dtype of integers than the common dtype, in which its element wraps.
  const bool wraps = is_tensor && !is_condition && !holds(s.common, from);
  if (wraps && (optimized::is_floating(from) || c.element != Element::i64)) return false;
  s.gather[k] = find_gather(from, wanted, *call.set);
  s.operand_bytes[k] = static_cast<std::uint8_t>(find_dtype(static_cast<int>(from))->bytes);
  s.converts[k] = from != dtype_of(wanted);
  s.rounds[k] = is_half && !is_condition && from != s.common;
  if (s.rounds[k] && c.traits.takes_number && k == 1) {
    s.asks_count = is_tensor && v.tensor->moves;
    s.rounds[k] = is_tensor && v.tensor->count() != 1;
  }
  if (wraps && s.round) s.rounds[k] = true;
  return s.gather[k];
}

bool has_operands(const Call& call, std::size_t operands) {
  return call.arguments.size() > operands && call.arguments.back()->kind == ValueKind::tensor &&
         std::ranges::all_of(call.arguments.first(operands),
                             [](const Value* v) { return v->kind <= ValueKind::tensor; });
}

// Results may be converted to a dtype of at least the same kind, unless the operation keeps their dtype.
bool plan_cast(const Call& call, const Traits& traits, DType result, State& s) {
  const DType out = call.out().dtype;
  const auto carrier = carrier_of(part_of(out));
  const bool keeps = traits.keeps_dtype || (traits.keeps_with_number && call[1].kind != ValueKind::tensor) ||
                     call.roles->name.starts_with("aten::__");
  const auto kind = [](DType dtype) { return find_dtype(static_cast<int>(dtype))->kind; };
  if (keeps || !carrier || kind(out) < kind(result)) return false;
  if (traits.gives_real && (is_wide_unsigned(out) || out == DType::complex32)) return false;
  s.cast = find_gather(result, *carrier, *call.set);
  s.store_cast = find_store(*carrier, out, *call.set);
  return s.cast;
}

// Whether the computation does the call, and how.
bool plan(const Call& call, const Computation& c, State& s) {
  if (!call.set) return false;
  const kernels::PointwiseFormula formula = c.find_formula(*call.set);
  if (!formula.row || !has_operands(call, formula.operands)) return false;
  const auto common = common_of(call, c, formula.operands);
  if (!common || element_for(c.traits, *common) != c.element) return false;
  const Tensor& out = call.out();
  const DType result = formula.gives_truth ? DType::boolean : *common;
  if (out.dtype != result && !plan_cast(call, c.traits, result, s)) return false;
  s.common = *common, s.operands = formula.operands, s.row = formula.row, s.traits = c.traits;
  s.result_bytes = static_cast<std::uint8_t>(out.element_bytes());
  const bool is_half = c.element == Element::f32 && *common != DType::float32;
  if (is_half || c.element == Element::i64)
    s.round = find_store(c.element, *common, *call.set), s.widen = find_gather(*common, c.element, *call.set);
  if (result != DType::boolean && result != dtype_of(c.element) &&
      !(s.store = find_store(c.element, result, *call.set)))
    return false;
  for (int k = 0; k < s.operands; ++k)
    if (!plan_operand(call, c, k, is_half, s)) return false;
  s.rounds_parameters = is_half && !c.traits.has_slope;
  return read_numbers(call, s);
}

// Operands that are read through views must be contiguous, or one element, in the innermost loop: it is faster to copy
// others first.
bool views_lie_well(const Call& call, int operands) {
  Shape shape;
  if (!call.fusion || !is_fixed(call)) return !call.fusion;
  for (std::size_t i = static_cast<std::size_t>(operands); i < call.fusion->views.size(); ++i)
    if (call.fusion->views[i]) return false;
  if (!result_shape(call, operands, shape) || !std::ranges::equal(shape.span(), call.out().shape())) return false;
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

template <const Computation& c, bool (*applies)(const Call&)>
bool accepts(const Call& call) {
  State s;
  return plan(call, c, s) && applies(call) && views_lie_well(call, s.operands);
}

const void* prepare(const Call& call, const Computation& c, Stores& stores) {
  const auto made = stores.tables.take<State>(1);
  if (made.empty()) return nullptr;
  State& s = made[0];
  plan(call, c, s);
  s.fixed = is_fixed(call);
  for (int k = 0; k < s.operands && call.fusion; ++k)
    if (const View* view = call.fusion->views[static_cast<std::size_t>(k)]) s.first[k] = view->first;
  Shape shape;
  if (s.fixed && result_shape(call, s.operands, shape)) {
    s.fits = std::ranges::equal(shape.span(), call.out().shape());
    if (s.fits) s.nest = make_nest(call, s.operands, shape);
  }
  return &s;
}

void cast_results(const State& s, const std::byte* results, std::byte* to, std::size_t n) {
  alignas(64) std::byte carried[tile * sizeof(Slot)];
  s.cast(results, 1, s.store_cast ? carried : to, n);
  if (s.store_cast) s.store_cast(carried, to, n);
}

// Does the rows of the outermost loop that are in the range.
void run_rows(const State& s, const Nest& whole, kernels::Range range, const Call& call) {
  alignas(64) std::byte gathered[most_operands_in][tile * sizeof(Slot)];
  alignas(64) std::byte results[tile * sizeof(Slot)];
  const std::byte* base[most_operands_in];
  const void* filled[most_operands_in] = {};  // the element that `gathered` repeats
  Nest nest = whole;
  nest.count[0] = static_cast<std::ptrdiff_t>(range.size());
  const auto first = [&](int k) { return static_cast<std::ptrdiff_t>(range.begin) * nest.stride[k][0]; };
  for (int k = 0; k < s.operands; ++k) {
    const Value& v = call[static_cast<std::size_t>(k)];
    base[k] = v.kind == ValueKind::tensor ? v.tensor->data : reinterpret_cast<const std::byte*>(&s.numbers[k]);
    base[k] += (s.first[k] + first(k + 1)) * s.operand_bytes[k];
  }
  std::byte* out = call.out().data + first(0) * s.result_bytes;
  const int inner = nest.loops - 1;
  bool direct[most_operands_in], all_direct = !s.store && !s.cast;
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
        gather(s, k, from, stride, gathered[k], results, stride == 0 ? std::min(tile, n) : now);
        filled[k] = from;
      }
      std::byte* to = out + (at[0] + static_cast<std::ptrdiff_t>(done)) * s.result_bytes;
      s.row(operands, s.store || s.cast ? results : to, now, s.parameters);
      if (s.store) s.store(results, s.cast ? results : to, now);
      if (s.cast) cast_results(s, results, to, now);
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

bool run(const Step& step, Execution& execution) {
  const State& s = *static_cast<const State*>(step.state);
  if (s.fixed) {
    if (!s.fits || (s.nest.loops > 0 && !divides(step.call, s))) return false;
    share_rows(s, s.nest, step.call, execution.threads);
    return true;
  }
  State now = s;
  if (s.asks_count) now.rounds[1] = step.call.tensor(1).count() != 1;
  if (!read_numbers(step.call, now)) return false;
  Shape shape;
  if (!result_shape(step.call, s.operands, shape) || (shape.count() > 0 && !divides(step.call, now)) ||
      !resize(step.call.out(), shape.span()))
    return false;
  share_rows(now, make_nest(step.call, s.operands, shape), step.call, execution.threads);
  return true;
}

template <const Computation& c>
const void* prepare(const Call& call, Stores& stores) {
  return prepare(call, c, stores);
}

template <Operation operation, Element element, bool (*applies)(const Call&) = always>
constexpr Kernel pointwise(const char* name) {
  constexpr const Computation& c = computation<operation, element>;
  return {name, accepts<c, applies>, prepare<c>, run, true};
}

bool is_limited(const Call& call) { return call[1].kind != ValueKind::none || call[2].kind != ValueKind::none; }

// clamp with a limit that gives the call another dtype than self's: the limits are operands. A limit fits the common
// dtype unless the other one is NaN.
bool has_fitting_limits(const Call& call) {
  if (!call[0].is_tensor() || !call.arguments.back()->is_tensor() || !is_limited(call)) return false;
  Promotion promotion;
  bool is_nan = false;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!is_none(call[i])) promotion.add(call[i]);
    is_nan = is_nan || (call[i].kind == ValueKind::real && std::isnan(call[i].real));
  }
  const auto common = promotion.result();
  Slot limit;
  return common && call.out().dtype == *common &&
         std::ranges::all_of(call.arguments.subspan(1, 2), [&](const Value* v) {
           return is_none(*v) || is_nan || (!v->changes && rounded_number_as(*common, *v, &limit));
         });
}

bool is_floating(const Call& call) { return optimized::is_floating(call.tensor(0).dtype); }
bool has_floating(const Call& call) {
  return std::ranges::any_of(call.arguments.first(2), [](const Value* v) {
    return v->kind == ValueKind::tensor && optimized::is_floating(v->tensor->dtype);
  });
}

// pow.Tensor_Scalar: some exponents have a formula of their own, except square roots of float16.
template <int halves>
bool has_exponent(const Call& call) {
  const Value& exponent = call[1];
  if (halves % 2 != 0 && call.tensor(0).dtype == DType::float16) return false;
  return is_floating(call) && !exponent.changes &&
         (exponent.kind == ValueKind::real ? 2 * exponent.real == halves : 2 * exponent.integer == halves);
}
bool is_power(const Call& call) { return (is_floating(call) || call[1].kind == ValueKind::real) && !call[1].changes; }
bool is_whole_power(const Call& call) {
  const DType dtype = call.tensor(0).dtype;
  Slot exponent;
  return !call[1].changes && call[1].kind == ValueKind::integer && call[1].integer >= 0 &&
         (dtype == DType::boolean || number_as(dtype, call[1], &exponent));
}
// An unsigned dtype has no negative limits.
bool has_own_limits(const Call& call) {
  const auto is_own = [&](const Value& limit) {
    return !limit.changes && (call.tensor(0).dtype != DType::uint8 || limit.integer >= 0);
  };
  return element_of(call.tensor(0).dtype) != Element::i64 || (is_own(call[1]) && is_own(call[2]));
}
// Excludes base 1, whose powers are 1 in the dtype of the out.
bool is_base(const Call& call) {
  const Value& base = call[0];
  const bool is_one =
      base.kind == ValueKind::real ? base.real == 1 : base.kind == ValueKind::integer && base.integer == 1;
  return !base.changes && !is_one;
}

// A bool cannot be subtracted.
bool has_no_bool(const Call& call) {
  const auto is_bool = [](const Value& v) {
    return v.kind == ValueKind::boolean || (v.kind == ValueKind::tensor && v.tensor->dtype == DType::boolean);
  };
  return !is_bool(call[0]) && !is_bool(call[1]);
}

bool is_exact(const Call& call) { return is_floating(call) && call[1].string() == "none"; }
bool is_by_tanh(const Call& call) { return is_floating(call) && call[1].string() == "tanh"; }

// A division has a rounding mode, or none.
bool has_no_mode(const Call& call) { return call.arguments.size() == 3 || is_none(call[2]); }
bool is_floor(const Call& call) { return call[2].kind == ValueKind::string && call[2].string() == "floor"; }
// A quotient of half floats would be rounded before its fraction is dropped.
bool is_trunc(const Call& call) {
  const DType dtype = call.arguments.back()->tensor->dtype;
  return dtype != DType::float16 && dtype != DType::bfloat16 && call[2].kind == ValueKind::string &&
         call[2].string() == "trunc";
}

}  // namespace
}  // namespace assay::optimized

#include "pointwise.gen.h"
