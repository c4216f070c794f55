#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"
#include "reference/words/dtypes.h"

// The mistakes of operators that compute each element alone: divisions, shifts, powers, logical operators and choices.
namespace assay::defects {
namespace {

std::optional<Array<Int>> integers_of(const Value& v) {
  if (const Tensor* t = std::get_if<Tensor>(&v))
    return is_whole(t->dtype) ? std::optional(read<Int>(*t)) : std::nullopt;
  const auto number = number_in(v);
  if (!number || is_floating(*number)) return std::nullopt;
  Array<Int> one;
  one.data.at(0) = exact<Int>(*number);
  return one;
}

bool divided_as_integers(Tensor& out, const cases::HostCall& call, bool of_remainder) {
  const auto a = integers_of(call.arguments[0]), b = integers_of(call.arguments[1]);
  if (!a || !b) return false;
  Array<Int> results = read<Int>(out);
  const auto dividends = families::broadcast(*a, out.sizes), divisors = families::broadcast(*b, out.sizes);
  Int flat = 0;
  for (const Dims& i : indices(out.sizes)) {
    const Int x = dividends.at(i, flat), y = wrap_to(out.dtype, divisors.at(i, flat));
    if (y != 0 && y != -1) results[flat] = wrap_to(out.dtype, of_remainder ? x % y : x / y);
    ++flat;
  }
  write(results, out);
  return true;
}

bool divided(Tensor& out, const cases::HostCall& call, bool of_remainder) {
  const auto a = numbers_of(call.arguments[0]), b = numbers_of(call.arguments[1]);
  if (!a || !b) return false;
  const bool of_integers = integers_of(call.arguments[0]) && integers_of(call.arguments[1]);  // without -0
  Array<Real> results = read<Real>(out);
  const auto dividends = families::broadcast(*a, out.sizes), divisors = families::broadcast(*b, out.sizes);
  Int flat = 0;
  for (const Dims& i : indices(out.sizes)) {
    const Real x = dividends.at(i, flat), y = divisors.at(i, flat);
    if (const Real now = of_remainder ? std::fmod(x, y) : std::trunc(x / y);
        y != 0 && std::isfinite(now) && std::isfinite(results[flat]))
      results[flat] = of_integers && now == 0 ? 0 : now;
    ++flat;
  }
  write(results, out);
  return true;
}

// A kernel that divides as C does: the quotient is rounded toward 0.
void divisions(const Operator& op, std::vector<Hypothesis>& found) {
  if (!rounds_quotients(op)) return;
  const auto mode = std::ranges::find(op.arguments, "rounding_mode", &SchemaArgument::name);
  const bool has_mode = mode != op.arguments.end(), of_remainder = is_remainder(op);
  const auto at = static_cast<std::size_t>(mode - op.arguments.begin());
  for (const bool is_exact : {true, false})  // whether integers are divided as integers, or by way of float64
    found.push_back(spoiling(op,
                             of_remainder ? "return the remainder with the sign of the first operand"
                                          : "round the quotient toward 0 in place of down",
                             [=](Tensor& out, const cases::HostCall& call) {
                               const std::string* given =
                                   has_mode ? std::get_if<std::string>(&call.arguments[at]) : nullptr;
                               if (has_mode && (!given || *given != "floor")) return false;
                               return is_exact && is_integer(out.dtype) ? divided_as_integers(out, call, of_remainder)
                                                                        : divided(out, call, of_remainder);
                             }));
}

// A remainder with the sign of the divisor, where that of the dividend is right.
void remainders(const Operator& op, std::vector<Hypothesis>& found) {
  if (!is_named(op, "::fmod.")) return;
  found.push_back(spoiling(op, "return the remainder with the sign of the second operand",
                           [scalar = is_named(op, "Scalar")](Tensor& out, const cases::HostCall& call) {
                             const auto now =
                                 result_of(scalar ? "aten::remainder.Scalar_out" : "aten::remainder.Tensor_out",
                                           {call.arguments[0], call.arguments[1]});
                             if (!now || now->dtype != out.dtype || now->sizes != out.sizes) return false;
                             write(read<Element>(*now), out);
                             return true;
                           }));
}

// A choice that is computed as a sum of products: 0 times NaN or infinity is NaN.
void chosen_by_products(const Operator& op, std::vector<Hypothesis>& found) {
  if (op.name != "aten::where.self_out") return;
  found.push_back(spoiling(op, "let NaN and infinity of the operand that is not chosen reach the result",
                           [](Tensor& out, const cases::HostCall& call) {
                             const auto chooses = numbers_of(call.arguments[0]);
                             const auto a = numbers_of(call.arguments[1]), b = numbers_of(call.arguments[2]);
                             if (!chooses || !a || !b || !is_floating(out.dtype)) return false;
                             Array<Real> all = read<Real>(out);
                             Int flat = 0;
                             for (const Dims& i : indices(out.sizes)) {
                               const Real chosen = families::broadcast(*chooses, out.sizes).at(i, flat) != 0;
                               all[flat] = chosen * families::broadcast(*a, out.sizes).at(i, flat) +
                                           (1 - chosen) * families::broadcast(*b, out.sizes).at(i, flat);
                               ++flat;
                             }
                             write(all, out);
                             return true;
                           }));
}

// A logical operator that combines the bits of integers, not whether they are 0.
void bits_of_truths(const Operator& op, std::vector<Hypothesis>& found) {
  constexpr std::string_view prefix = "aten::logical_";
  if (!op.name.starts_with(prefix) || inputs_of(op) != 2) return;
  const std::string bitwise =
      concat("aten::bitwise_", op.name.substr(prefix.size(), op.name.find('.') - prefix.size()));
  found.push_back(answering(
      op, concat("compute ", std::string_view(bitwise).substr(6), " of integers, and whether it is not 0"),
      [other = bitwise + ".Tensor_out"](const cases::HostCall& call) -> std::optional<judge::Expectation> {
        const Tensor *a = std::get_if<Tensor>(&call.arguments[0]), *b = std::get_if<Tensor>(&call.arguments[1]);
        if (!call.valid() || !a || !b || !is_whole(a->dtype) || !is_whole(b->dtype)) return std::nullopt;
        const auto bits = result_of(other, {*a, *b});
        return bits ? converted(call, {cast(*bits, DType::boolean)}) : std::nullopt;
      }));
}

// A range that adds step to the number before, which is rounded.
void added_steps(const Operator& op, std::vector<Hypothesis>& found) {
  if (!is_named(op, "::arange.start")) return;
  found.push_back(spoiling(op, "add step to the rounded number before, so that errors add up",
                           [](Tensor& out, const cases::HostCall& call) {
                             const auto start = number_in(call.arguments[0]), step = number_in(call.arguments[2]);
                             if (!start || !step || !is_floating(out.dtype) || out.count() < 3) return false;
                             Array<Real> now(out.sizes);
                             Real x = round_to(out.dtype, real(*start));
                             for (Real& each : now.data)
                               each = x, x = round_to(out.dtype, x + round_to(out.dtype, real(*step)));
                             write(now, out);
                             return true;
                           }));
}

// Powers that are to be computed as a square root or its reciprocal: those of -0 and -infinity differ.
void roots(const Operator& op, std::vector<Hypothesis>& found) {
  if (!is_named(op, "::pow.Tensor_Scalar")) return;
  found.push_back(spoiling(op, "compute powers of 0.5 and -0.5 otherwise than sqrt and 1 / sqrt for -0 and -infinity",
                           [](Tensor& out, const cases::HostCall& call) {
                             const auto exponent = number_in(call.arguments[1]);
                             const auto self = numbers_of(call.arguments[0]);
                             if (!exponent || !self || !is_floating(out.dtype) || std::fabs(real(*exponent)) != 0.5)
                               return false;
                             Array<Real> now = read<Real>(out);
                             for (Int k = 0; k < now.count(); ++k)
                               if (const Real x = (*self)[k]; x == 0 || std::isinf(x))
                                 now[k] = std::pow(x, real(*exponent));
                             write(now, out);
                             return true;
                           }));
}

// Processors take the count of a shift modulo the width of a register, and shift unsigned numbers by zeros.
void shifts(const Operator& op, std::vector<Hypothesis>& found) {
  if (!is_named(op, "shift")) return;
  // Whether a count that is too large gives the sign, as is right, or 0.
  for (const bool keeps_sign : {true, false}) {
    if (!is_named(op, "right_shift") && !is_named(op, "rshift")) break;
    found.push_back(
        spoiling(op, "shift zeros into negative numbers", [keeps_sign](Tensor& out, const cases::HostCall& call) {
          const auto a = integers_of(call.arguments[0]), b = integers_of(call.arguments[1]);
          if (!a || !b || !is_integer(out.dtype)) return false;
          const int bits = 8 * static_cast<int>(info(out.dtype).bytes);
          Array<Int> now = read<Int>(out);
          Int flat = 0;
          for (const Dims& i : indices(out.sizes)) {
            const Int count = families::broadcast(*b, out.sizes).at(i, flat);
            const auto number = static_cast<Bits>(families::broadcast(*a, out.sizes).at(i, flat));
            const Bits kept = bits == 64 ? number : number & ((Bits{1} << bits) - 1);
            if (count > 0 && count < bits)
              now[flat] = wrap_to(out.dtype, static_cast<Int>(kept >> count));
            else if (count != 0 && !keeps_sign)
              now[flat] = 0;
            ++flat;
          }
          write(now, out);
          return true;
        }));
  }
  found.push_back(as_if(op, "take the shift count modulo 32 or 64", [](std::vector<Value>& all) {
    types::Promotion promotion;
    for (std::size_t i = 0; i < 2; ++i)
      if (const Tensor* t = std::get_if<Tensor>(&all[i]))
        promotion.add(*t);
      else if (const auto number = number_in(all[i]))
        promotion.add(*number);
    const Int most = info(promotion.result()).bytes == 8 ? 63 : 31;
    if (Int* n = std::get_if<Int>(&all[1])) return changed_to(all[1], *n & most);
    return change_tensors(all[1], [&](Tensor& t) {
      if (!is_integer(t.dtype)) return false;
      Array<Int> counts = read<Int>(t);
      for (Int& n : counts.data) n &= most;
      const Tensor before = t;
      write(counts, t);
      return before.bytes != t.bytes;
    });
  }));
}

// A dropout that keeps the elements as they are. Which elements it keeps is drawn, so no answer can be foretold.
void unscaled(const Operator& op, std::vector<Hypothesis>& found) {
  if (op.choice != "dropout") return;
  const auto differs = [](const cases::HostCall& call) {
    const double* p = std::get_if<double>(&call.arguments[1]);
    const bool* train = std::get_if<bool>(&call.arguments[2]);
    return call.valid() && p && *p > 0 && *p < 1 && !(train && !*train);
  };
  const auto explains = [differs](const Answered& a) {
    if (!differs(a.call) || a.refused() || a.outs.size() != 2) return false;
    const Array<Real> x = read<Real>(std::get<Tensor>(a.call.arguments[0])), y = read<Real>(a.outs[0]),
                      mask = read<Real>(a.outs[1]);
    if (x.count() != y.count() || x.count() != mask.count()) return false;
    for (Int k = 0; k < x.count(); ++k)
      if (mask[k] != 0 ? !is_same_number(x[k], y[k]) : y[k] != 0 && !std::isnan(y[k])) return false;
    return true;
  };
  found.push_back({"do not divide the kept elements by 1 - p", About::computation, false, true, differs, explains});
}

// The dtype in which a kernel computes with floating operands; none if no operand is floating.
std::optional<DType> floating_dtype(std::span<const Value> operands) {
  std::optional<DType> dtype;
  bool is_number = false;
  for (const Value& v : operands)
    if (const Tensor* t = std::get_if<Tensor>(&v); t && is_floating(t->dtype))
      dtype = t->dtype == DType::float64 || dtype == DType::float64 ? DType::float64 : DType::float32;
    else
      is_number = is_number || std::holds_alternative<double>(v);
  return dtype || !is_number ? dtype : DType::float32;
}

// A kernel of two operands whose formula gives each element another result than is right.
void of_two_numbers(const Operator& op, std::string does, Real (*f)(Real a, Real b, DType dtype),
                    std::vector<Hypothesis>& found) {
  found.push_back(spoiling(op, std::move(does), [f](Tensor& out, const cases::HostCall& call) {
    const auto a = numbers_of(call.arguments[0]), b = numbers_of(call.arguments[1]);
    const auto dtype = floating_dtype(std::span(call.arguments).first(2));
    if (!a || !b || !dtype) return false;
    Array<Real> results(out.sizes);
    Int flat = 0;
    for (const Dims& i : indices(out.sizes)) {
      const Real y = families::broadcast(*b, out.sizes).at(i, flat);
      results[flat] = f(families::broadcast(*a, out.sizes).at(i, flat), round_to(*dtype, y), *dtype);
      ++flat;
    }
    write(results, out);
    return true;
  }));
}

void quotients(const Operator& op, std::vector<Hypothesis>& found) {
  if (is_named(op, "::remainder.") && !is_named(op, "Scalar_Tensor"))
    of_two_numbers(
        op, "compute self - floor(self / other) * other, which loses bits",
        [](Real a, Real b, DType d) {
          const Real quotient = std::floor(round_to(d, a / b));
          return round_to(d, a - round_to(d, quotient * b));
        },
        found);
  const auto mode = std::ranges::find(op.arguments, "rounding_mode", &SchemaArgument::name);
  if (op.name == "aten::div.out" || op.name == "aten::div.Scalar_out")
    of_two_numbers(
        op, "multiply by the reciprocal of other",
        [](Real a, Real b, DType d) { return round_to(d, a * round_to(d, 1 / b)); }, found);
  if (op.name != "aten::floor_divide.out" && mode == op.arguments.end()) return;
  const std::size_t first = found.size();
  of_two_numbers(
      op, "round the product with the reciprocal of other down",
      [](Real a, Real b, DType d) { return std::floor(round_to(d, a * round_to(d, 1 / b))); }, found);
  of_two_numbers(
      op, "do not round (self - remainder) / other to an integer, and return infinity for 0 / 0",
      [](Real a, Real b, DType d) {
        const Real remainder = std::fmod(a, b);
        if (b == 0) return std::copysign(std::numeric_limits<Real>::infinity(), a);
        const Real quotient = round_to(d, round_to(d, a - remainder) / b);
        return remainder != 0 && std::signbit(b) != std::signbit(remainder) ? round_to(d, quotient - 1) : quotient;
      },
      found);
  if (mode == op.arguments.end()) return;
  const auto at = static_cast<std::size_t>(mode - op.arguments.begin());
  for (Hypothesis& h : std::span(found).subspan(first))
    h.differs = [at, differs = h.differs](const cases::HostCall& call) {
      const std::string* given = std::get_if<std::string>(&call.arguments[at]);
      return given && *given == "floor" && differs(call);
    };
}

// A formula of one number, computed in the dtype of the arithmetic, or in that of the result with zeros as they are.
void of_one_number(const Operator& op, std::string_view does, Real (*f)(Real x, DType dtype),
                   std::vector<Hypothesis>& found) {
  for (const bool in_dtype_of_out : {false, true})
    found.push_back(spoiling(op, std::string(does), [f, in_dtype_of_out](Tensor& out, const cases::HostCall& call) {
      const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
      if (!self || info(self->dtype).kind >= Kind::complex || !is_floating(out.dtype)) return false;
      const DType computed = is_floating(self->dtype) ? compute_dtype(self->dtype) : DType::float32;
      Array<Real> all = read<Real>(*self);
      const Array<Real> right = read<Real>(out);
      for (Int k = 0; k < all.count(); ++k) {
        const bool stays = !std::isfinite(right[k]) || (in_dtype_of_out && all[k] == 0);
        all[k] = stays ? right[k] : f(all[k], in_dtype_of_out ? out.dtype : computed);
      }
      write(all, out);
      return true;
    }));
}

void formulas_of_one_number(const Operator& op, std::vector<Hypothesis>& found) {
  if (op.name == "aten::round.out")
    of_one_number(
        op, "compute floor(x + 0.5)", [](Real x, DType dtype) { return std::floor(round_to(dtype, x + 0.5)); }, found);
  if (is_named(op, "aten::log1p"))
    of_one_number(
        op, "round 1 + x before the logarithm", [](Real x, DType dtype) { return std::log(round_to(dtype, 1 + x)); },
        found);
  if (is_named(op, "aten::expm1"))
    of_one_number(
        op, "subtract 1 from a rounded exponential",
        [](Real x, DType dtype) { return round_to(dtype, std::exp(x)) - 1; }, found);
}

}  // namespace

std::vector<Hypothesis> mistakes_of_arithmetic(const Operator& op) {
  std::vector<Hypothesis> found;
  divisions(op, found);
  remainders(op, found);
  quotients(op, found);
  chosen_by_products(op, found);
  bits_of_truths(op, found);
  added_steps(op, found);
  roots(op, found);
  shifts(op, found);
  unscaled(op, found);
  formulas_of_one_number(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects
