#include "conformance/files/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "conformance/text/element.h"
#include "conformance/text/literal.h"
#include "reference/fault.h"

namespace assay::files {
namespace {

// The elements of a tensor as bits and, unless its dtype is opaque, as numbers. The parts of a complex element are
// separate.
struct Elements {
  explicit Elements(const Tensor& t) : bits(read_parts(t)), real_of(info(t.dtype).real_of) {}
  Array<Bits> bits;
  Real (*real_of)(Bits);
};

// The distance between two elements; 0 if they are equal or both NaN.
double distance(Real got, Real want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double d = std::fabs(got - want);
  return std::isnan(d) ? HUGE_VAL : d;
}

bool inside(Real got, Real want, const Tolerance& tolerance) {
  const double d = distance(got, want);
  return d == 0 || (std::isfinite(d) && d <= tolerance.atol + tolerance.rtol * std::fabs(want));
}

Dims index_of(Int flat, const Dims& sizes) {
  Dims index = Dims::filled(sizes.size(), 0);
  for (int d = sizes.size() - 1; d >= 0; flat /= sizes[d], --d) index[d] = flat % sizes[d];
  return index;
}

Comparison compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  Comparison c;
  if (got.dtype != want.dtype || got.sizes != want.sizes) {
    c.difference = concat("got ", describe(got), ", want ", describe(want));
    return c;
  }
  const Elements g(got), w(want);
  const DTypeInfo& d = info(got.dtype);
  const bool by_bits = !g.real_of || (!is_floating(d.part) && tolerance.rtol == 0 && tolerance.atol == 0);
  c.elements = g.bits.count();
  double farthest = -1;
  for (Int i = 0; i < c.elements; ++i) {
    if (g.bits[i] == w.bits[i]) continue;
    const Real a = g.real_of ? g.real_of(g.bits[i]) : 0, b = g.real_of ? g.real_of(w.bits[i]) : 0;
    const double apart = distance(a, b);
    c.distance = std::max(c.distance, apart);
    if (!by_bits && inside(a, b, tolerance)) continue;
    ++c.outside;
    if (apart <= farthest) continue;
    farthest = apart;
    c.index = index_of(i / d.parts(), got.sizes);
    c.got = text::number_text(g.bits[i], d.part), c.want = text::number_text(w.bits[i], d.part);
  }
  return c;
}

// A number is compared as a tensor without dimensions. Integers become floats if either number is a float.
std::optional<Comparison> compare_numbers(const Value& got, const Value& want, const Tolerance& tolerance) {
  const auto g = number_in(got), w = number_in(want);
  if (!g || !w || is_bool(*g) != is_bool(*w)) return {};
  const bool floating = is_floating(*g) || is_floating(*w);
  const auto tensor = [&](const Scalar& s) { return floating ? cast(tensor_of(s), DType::float64) : tensor_of(s); };
  return compare(tensor(*g), tensor(*w), tolerance);
}

std::string brief(const Value& value) {
  const Tensor* t = std::get_if<Tensor>(&value);
  return t ? describe(*t) : text::literal(value, 8);
}

}  // namespace

Comparison compare(const Value& got, const Value& want, const Tolerance& tolerance) {
  const Tensor *g = std::get_if<Tensor>(&got), *w = std::get_if<Tensor>(&want);
  if (g && w) return compare(*g, *w, tolerance);
  if (auto numbers = compare_numbers(got, want, tolerance)) return *numbers;
  Comparison c;
  if (const auto* s = std::get_if<std::string>(&got), *t = std::get_if<std::string>(&want); s && t && *s == *t)
    return c;
  if (std::holds_alternative<std::monostate>(got) && std::holds_alternative<std::monostate>(want)) return c;
  c.difference = concat("got ", brief(got), ", want ", brief(want));
  return c;
}

std::string sentence(const Comparison& c, const Tolerance& tolerance) {
  if (!c.difference.empty()) return c.difference;
  if (c.outside == 0) return c.distance == 0 ? "equal" : fmt::format("off by at most {:.3g}", c.distance);
  const std::string where = c.index.size() > 0 ? concat(" at ", c.index) : "";
  return fmt::format("{} of {} outside rtol {:g}, atol {:g}; worst{}: got {}, want {}, off by {:.3g}", c.outside,
                     c.elements, tolerance.rtol, tolerance.atol, where, c.got, c.want, c.distance);
}

}  // namespace assay::files
