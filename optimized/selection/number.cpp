#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "kernels.gen.h"
#include "optimized/selection/layout.h"
#include "optimized/selection/numbers.h"

// Operators on numbers. Integers stay integers and wrap. With a double all operands become doubles. A bool counts as 1
// or 0. The returned value is behind the arguments.
namespace assay::optimized {
namespace {

using Int = std::int64_t;

bool is_one(const Value& v) { return v.kind <= ValueKind::boolean && v.kind != ValueKind::none; }
Int integer(const Value& v) { return v.kind == ValueKind::boolean ? v.boolean : v.integer; }
double real(const Value& v) { return v.kind == ValueKind::real ? v.real : static_cast<double>(integer(v)); }

bool give(Value& to, Int x) { return to.kind = ValueKind::integer, to.integer = x, true; }
bool give(Value& to, double x) { return to.kind = ValueKind::real, to.real = x, true; }
bool give(Value& to, bool x) { return to.kind = ValueKind::boolean, to.boolean = x, true; }

bool accepts(const Call&) { return true; }

template <class F>
bool run_of_two(const Step& step, Execution&) {
  const Value &a = step.call[0], &b = step.call[1];
  if (!is_one(a) || !is_one(b)) return false;
  Value& to = *step.call.arguments[2];
  if (a.kind == ValueKind::real || b.kind == ValueKind::real) return give(to, F()(real(a), real(b)));
  return give(to, F()(integer(a), integer(b)));
}

// An operation on integers that wrap.
template <template <class> class Operation>
struct Wrapping {
  double operator()(double a, double b) const { return Operation<double>()(a, b); }
  Int operator()(Int a, Int b) const {
    using U = std::uint64_t;
    return static_cast<Int>(Operation<U>()(static_cast<U>(a), static_cast<U>(b)));
  }
};

template <class F>
constexpr Kernel of_two(const char* name, F) {
  return {name, accepts, nullptr, run_of_two<F>};
}

// The largest integer that is not above the exact quotient. a without its remainder is a multiple of b.
double floor_of(double a, double b) {
  const double rest = std::fmod(a, b), whole = std::round((a - rest) / b);
  const bool below = rest != 0 && (rest < 0) != (b < 0);
  return whole == 0 && !below ? std::copysign(0.0, a / b) : whole - (below ? 1 : 0);
}

// Quotients, rounded down, and the remainders of integers. Dividing the least integer by -1 wraps.
template <bool quotient>
bool run_division(const Step& step, Execution&) {
  const Value &a = step.call[0], &b = step.call[1];
  Value& to = *step.call.arguments[2];
  if (!is_one(a) || !is_one(b) || real(b) == 0) return false;
  if (a.kind == ValueKind::real || b.kind == ValueKind::real) return quotient && give(to, floor_of(real(a), real(b)));
  const Int n = integer(a), divisor = integer(b);
  if (divisor == -1) return give(to, quotient ? Wrapping<std::minus>()(Int{0}, n) : Int{0});
  const Int rest = n % divisor;
  const bool below = rest != 0 && (rest < 0) != (divisor < 0);
  return give(to, quotient ? n / divisor - below : rest + (below ? divisor : 0));
}

// The integer that a function makes of a double. A number that is not real is its own integer.
template <double (*rounded)(double)>
bool run_rounding(const Step& step, Execution&) {
  const Value& a = step.call[0];
  Value& to = *step.call.arguments[1];
  if (!is_one(a)) return false;
  if (a.kind != ValueKind::real) return give(to, integer(a));
  return a.real >= -0x1p63 && a.real < 0x1p63 && give(to, static_cast<Int>(rounded(a.real)));
}

bool run_true_division(const Step& step, Execution&) {
  const Value &a = step.call[0], &b = step.call[1];
  if (!is_one(a) || !is_one(b) || real(b) == 0) return false;
  return give(*step.call.arguments[2], real(a) / real(b));
}

// The first operand, unless the second is beyond it. The result is a double where one of them is.
template <class Beyond>
bool run_extreme(const Step& step, Execution&) {
  const Value &a = step.call[0], &b = step.call[1];
  if (!is_one(a) || !is_one(b)) return false;
  const bool mixes = a.kind == ValueKind::real || b.kind == ValueKind::real;
  const bool second = mixes ? Beyond()(real(b), real(a)) : Beyond()(integer(b), integer(a));
  const Value& chosen = second ? b : a;
  Value& to = *step.call.arguments[2];
  if (mixes) return give(to, real(chosen));
  return chosen.kind == ValueKind::boolean ? give(to, chosen.boolean) : give(to, chosen.integer);
}

bool run_neg(const Step& step, Execution&) {
  const Value& a = step.call[0];
  Value& to = *step.call.arguments[1];
  if (!is_one(a)) return false;
  return a.kind == ValueKind::real ? give(to, -a.real) : give(to, Wrapping<std::minus>()(Int{0}, integer(a)));
}
bool run_not(const Step& step, Execution&) {
  return is_one(step.call[0]) && give(*step.call.arguments[1], real(step.call[0]) == 0);
}
bool run_float(const Step& step, Execution&) {
  return is_one(step.call[0]) && give(*step.call.arguments[1], real(step.call[0]));
}

// One of two numbers of the same kind, which a condition chooses.
bool run_choice(const Step& step, Execution&) {
  const Value &condition = step.call[0], &chosen = step.call[condition.boolean ? 1 : 2];
  Value& to = *step.call.arguments[3];
  if (condition.kind != ValueKind::boolean || step.call[1].kind != step.call[2].kind || !is_one(chosen)) return false;
  return chosen.kind == ValueKind::real      ? give(to, chosen.real)
         : chosen.kind == ValueKind::integer ? give(to, chosen.integer)
                                             : give(to, chosen.boolean);
}

bool run_size(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  const int d = self.rank > 0 ? dim_of(step.call[1], self.rank) : -1;
  return d >= 0 && give(*step.call.arguments[2], Int{self.size(d)});
}
bool run_numel(const Step& step, Execution&) { return give(*step.call.arguments[1], step.call.tensor(0).count()); }

bool run_item(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Value& to = *step.call.arguments[1];
  if (self.count() == 0) return false;
  if (self.dtype == DType::boolean) return give(to, *self.elements<std::uint8_t>() != 0);
  if (is_floating(self.dtype)) return give(to, find_reader(self.dtype)(self.data));
  const auto read = find_reader<Int>(self.dtype);
  return read && give(to, read(self.data));
}

}  // namespace

constexpr Kernel number_add = of_two("number_add", Wrapping<std::plus>());
constexpr Kernel number_sub = of_two("number_sub", Wrapping<std::minus>());
constexpr Kernel number_mul = of_two("number_mul", Wrapping<std::multiplies>());
constexpr Kernel number_eq = of_two("number_eq", std::equal_to<>());
constexpr Kernel number_lt = of_two("number_lt", std::less<>());
constexpr Kernel number_le = of_two("number_le", std::less_equal<>());
constexpr Kernel number_gt = of_two("number_gt", std::greater<>());
constexpr Kernel number_ge = of_two("number_ge", std::greater_equal<>());
constexpr Kernel number_max{"number_max", accepts, nullptr, run_extreme<std::greater<>>};
constexpr Kernel number_min{"number_min", accepts, nullptr, run_extreme<std::less<>>};
constexpr Kernel number_floordiv{"number_floordiv", accepts, nullptr, run_division<true>};
constexpr Kernel number_mod{"number_mod", accepts, nullptr, run_division<false>};
constexpr Kernel number_ceil{"number_ceil", accepts, nullptr, run_rounding<std::ceil>};
constexpr Kernel number_round{"number_round", accepts, nullptr, run_rounding<std::nearbyint>};
constexpr Kernel number_trunc{"number_trunc", accepts, nullptr, run_rounding<std::trunc>};
constexpr Kernel number_choice{"number_choice", accepts, nullptr, run_choice};
constexpr Kernel number_truediv{"number_truediv", accepts, nullptr, run_true_division};
constexpr Kernel number_neg{"number_neg", accepts, nullptr, run_neg};
constexpr Kernel number_not{"number_not", accepts, nullptr, run_not};
constexpr Kernel number_float{"number_float", accepts, nullptr, run_float};
constexpr Kernel number_size{"number_size", accepts, nullptr, run_size};
constexpr Kernel number_numel{"number_numel", accepts, nullptr, run_numel};
constexpr Kernel number_item{"number_item", accepts, nullptr, run_item};

}  // namespace assay::optimized
