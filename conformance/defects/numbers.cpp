#include "conformance/defects/numbers.h"

#include <algorithm>
#include <cmath>

#include "conformance/cases/tensors.h"

namespace assay::defects {

bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }
bool is_same_number(Real a, Real b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

std::optional<Array<Real>> numbers_of(const Value& v) {
  if (const Tensor* t = std::get_if<Tensor>(&v))
    return info(t->dtype).kind < Kind::complex ? std::optional(read<Real>(*t)) : std::nullopt;
  const auto number = number_in(v);
  if (!number) return std::nullopt;
  Array<Real> one{Dims()};
  one.data.at(0) = real(*number);
  return one;
}

bool replace(Tensor& t, bool (*is)(Real, DType), Real (*now)(Real)) {
  if (info(t.dtype).is_opaque()) return false;
  Array<Bits> parts = read_parts(t);
  const DTypeInfo& d = info(info(t.dtype).part);
  bool any = false;
  for (Bits& b : parts.data)
    if (const Real x = d.real_of(b); is(x, info(t.dtype).part)) b = d.bits_of_real(now(x)), any = true;
  if (any) write_parts(parts, t);
  return any;
}

bool has_only(const Answered& a, bool (*is_meant)(DType), bool (*may_be)(Real right, Real got)) {
  if (!a.call.valid() || a.refused() || a.outs.empty()) return false;
  const Tensor &right = a.call.expected.outs[0], &got = a.outs[0];
  if (got.dtype != right.dtype || got.sizes != right.sizes || !is_meant(right.dtype)) return false;
  const Array<Real> x = read<Real>(right), y = read<Real>(got);
  bool any = false;
  for (Int k = 0; k < x.count(); ++k) {
    if (is_same_number(x[k], y[k])) continue;
    if (!may_be(x[k], y[k])) return false;
    any = true;
  }
  return any;
}

bool are_near(const Array<Real>& got, const Array<Real>& right, Real size) {
  Int near = 0, all = 0;
  for (Int k = 0; k < got.count(); ++k) {
    if (!std::isfinite(right[k]) || !std::isfinite(got[k])) continue;
    const Real error = std::fabs(got[k] - right[k]);
    if (error > 0x1p-12 * std::max(std::fabs(right[k]), size)) return false;
    ++all, near += error <= 0x1p-12 * std::fabs(right[k]);
  }
  return 2 * near >= all;
}

Real largest_input(const cases::HostCall& call) {
  Real most = 0;
  cases::each_tensor(call.arguments, [&](const Tensor& t, std::size_t) {
    if (!info(t.dtype).is_opaque())
      for (const Real x : magnitudes(read<Real>(t)).data) most = std::max(most, x);
  });
  return most;
}

}  // namespace assay::defects
