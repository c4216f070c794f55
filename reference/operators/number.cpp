#include "operators/number.gen.h"

#include <cmath>

#include "operators/arithmetic.gen.h"

namespace assay {
namespace {

bool mixes(const Scalar& a, const Scalar& b) { return is_floating(a) || is_floating(b); }

// f(a, b) as doubles where one is a double, else as integers.
template <class F>
auto of_numbers(const Scalar& a, const Scalar& b, F f) {
  return mixes(a, b) ? f(real(a), real(b)) : f(exact<Int>(a), exact<Int>(b));
}

Scalar as_integer(Real whole) { return exact<Int>(Scalar(whole)); }

// The chosen one of a and b, as a double where either is.
Scalar one_of(const Scalar& chosen, const Scalar& a, const Scalar& b) {
  return mixes(a, b) ? Scalar(real(chosen)) : chosen;
}

}  // namespace

Scalar operators::add(Scalar a, Scalar b) {
  return mixes(a, b) ? Scalar(real(a) + real(b)) : wrapping_add(exact<Int>(a), exact<Int>(b));
}
Scalar operators::sub(Scalar a, Scalar b) {
  return mixes(a, b) ? Scalar(real(a) - real(b)) : wrapping_subtract(exact<Int>(a), exact<Int>(b));
}
Scalar operators::mul(Scalar a, Scalar b) {
  return mixes(a, b) ? Scalar(real(a) * real(b)) : wrapping_multiply(exact<Int>(a), exact<Int>(b));
}
Scalar operators::neg(Scalar a) { return is_floating(a) ? Scalar(-real(a)) : wrapping_negate(exact<Int>(a)); }
Scalar operators::truediv(Scalar a, Scalar b) { return real(a) / real(b); }
Scalar operators::floordiv(Scalar a, Scalar b) {
  return mixes(a, b) ? Scalar(floor_divide(real(a), real(b))) : floor_divide(exact<Int>(a), exact<Int>(b));
}
Int operators::floordiv(Int a, Int b) { return floor_divide(a, b); }
Int operators::mod(Int a, Int b) { return remainder(a, b); }

Scalar operators::ceil(Scalar a) { return is_floating(a) ? as_integer(std::ceil(real(a))) : exact<Int>(a); }
Scalar operators::round(Scalar a) { return is_floating(a) ? as_integer(std::nearbyint(real(a))) : exact<Int>(a); }
Scalar operators::trunc(Scalar a) { return exact<Int>(a); }
Scalar operators::sym_float(Scalar a) { return real(a); }

bool operators::eq(Scalar a, Scalar b) {
  return of_numbers(a, b, [](auto x, auto y) { return x == y; });
}
bool operators::lt(Scalar a, Scalar b) {
  return of_numbers(a, b, [](auto x, auto y) { return x < y; });
}
bool operators::le(Scalar a, Scalar b) {
  return of_numbers(a, b, [](auto x, auto y) { return x <= y; });
}
bool operators::gt(Scalar a, Scalar b) { return lt(b, a); }
bool operators::ge(Scalar a, Scalar b) { return le(b, a); }
bool operators::sym_not(Scalar a) { return real(a) == 0; }
Scalar operators::sym_max(Scalar a, Scalar b) { return one_of(lt(a, b) ? b : a, a, b); }
Scalar operators::sym_min(Scalar a, Scalar b) { return one_of(lt(b, a) ? b : a, a, b); }
Scalar operators::sym_ite(Scalar b, Scalar t, Scalar f) { return std::get<bool>(b) ? t : f; }

Int operators::sym_size(const Dims& self, Int dim) { return self[wrap_dim(dim, self.size())]; }
Int operators::sym_numel(const Dims& self) { return count(self); }
Scalar operators::local_scalar_dense(Scalar self) { return self; }

}  // namespace assay
