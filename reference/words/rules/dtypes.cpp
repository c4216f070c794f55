#include "reference/words/rules.h"

#include <algorithm>
#include <cmath>

#include "reference/words/dtypes.h"

namespace assay {
namespace {

std::string names(DTypeSet set) {
  std::string list;
  for (Int n = 0; n < 32; ++n)
    if (const auto d = dtype_numbered(n); d && set & sets::of(*d))
      list += (list.empty() ? "" : ", ") + std::string(info(*d).name);
  return list;
}

void check_dtype(std::string_view name, DType dtype, DTypeSet set) {
  if (!sets::has(set, dtype)) throw Broken{text(name, " is ", dtype, ", but must be one of ", names(set))};
}

}  // namespace

namespace rules {

void dtype_of(TensorArgument tensor, DTypeSet set) { check_dtype(tensor.name, tensor->dtype, set); }

void dtype_of(Argument<const Tensors*> tensors, DTypeSet set) {
  for (const auto& t : *tensors.value)
    if (t) check_dtype(tensors.name, t->dtype, set);
}

void computes_in(DType dtype, DTypeSet set) {
  if (!sets::has(set, dtype))
    throw Broken{text("the operands' common dtype is ", dtype, ", but must be one of ", names(set))};
}

void stays_complex(TensorArgument tensor, DType dtype) {
  require(!is_complex(tensor->dtype) || is_complex(dtype), tensor.name, " is ", tensor->dtype, ", which ", dtype,
          " does not hold");
}

void same_dtype(TensorArgument a, TensorArgument b) {
  require(a->dtype == b->dtype, b.name, " is ", b->dtype, ", but must be ", a->dtype, " as ", a.name, " is");
}

void same_dtype_or_float32(TensorArgument a, TensorArgument b) {
  const bool wide = is_half(a->dtype) && b->dtype == DType::float32;
  require(wide || a->dtype == b->dtype, b.name, " is ", b->dtype, ", but must be ", a->dtype, " as ", a.name, " is",
          is_half(a->dtype) ? ", or float32" : "");
}

void promote_to(TensorArgument a, TensorArgument b, DTypeSet set) {
  computes_in(types::promote(a->dtype, b->dtype), set);
}

void has_dtype(TensorArgument tensor, Argument<Int> dtype) {
  require(tensor->dtype == types::named(dtype), tensor.name, " is ", tensor->dtype, ", but must be ",
          types::named(dtype), " as ", dtype.name, " says");
}

void named_dtype_of(Argument<Int> dtype, DTypeSet set) { check_dtype(dtype.name, types::named(dtype), set); }

void scalar_fits(Argument<Scalar> scalar, DType dtype, DTypeSet set) {
  if (sets::has(set, dtype)) scalar_fits(scalar, dtype);
}

void scalar_fits(Argument<Scalar> scalar, DType dtype) {
  require(fits(scalar.value, dtype), scalar.name, " is ", scalar.value, ", which does not fit ", dtype);
}

void negated_scalar_fits(Argument<Scalar> scalar, DType dtype) {
  require(fits(negated(scalar.value), dtype), scalar.name, " is ", scalar.value, ", whose opposite does not fit ",
          dtype);
}

void scalar_computes(Argument<Scalar> scalar, DType dtype) { scalar_fits(scalar, compute_dtype(dtype)); }

void scalar_is_number(Argument<Scalar> scalar) {
  require(!is_bool(scalar.value), scalar.name, " is ", scalar.value, ", but must be a number");
}

void scalar_is_bool(Argument<Scalar> flag) {
  require(is_bool(flag.value), flag.name, " is ", flag.value, ", but must be true or false");
}

void same_kind(Argument<Scalar> a, Argument<Scalar> b) {
  require(a.value.index() == b.value.index(), a.name, " is ", a.value, " and ", b.name, " is ", b.value,
          ", but both must be bools, both integers or both floats");
}

void has_integer(Argument<Scalar> n) {
  constexpr Real end = 0x1p63;
  const bool holds = !is_floating(n.value) || (-end <= real(n.value) && real(n.value) < end);
  require(holds, n.name, " is ", n.value, ", which is beyond the integers of 64 bits");
}

void scalar_kind(Argument<Scalar> scalar, DType dtype) {
  require(!is_floating(scalar.value) || is_floating(dtype) || is_complex(dtype), scalar.name, " is ", scalar.value,
          ", but the result is ", dtype, " and needs an integer");
  require(!is_bool(scalar.value) || dtype == DType::boolean, scalar.name, " is ", scalar.value, ", but the result is ",
          dtype, " and needs a number");
}

void scales_within(Argument<Scalar> factor, DType dtype) {
  const DType own = types::of(factor);
  require(real(factor.value) == 0 || info(own).kind <= info(dtype).kind, factor.name, " is ", factor.value,
          ", which makes a result ", own, ", but it must be ", dtype);
}

void limit_fits(Argument<Scalar> limit, DType dtype) {
  if (!assay::is_integer(dtype)) return scalar_fits(limit, dtype);
  const Real v = std::trunc(real(limit.value));
  require(v >= least_integer(dtype) && v <= largest_integer(dtype), limit.name, " is ", limit.value,
          ", which is no limit of ", dtype);
}

void no_negative_power(TensorArgument self, Argument<Scalar> exponent) {
  const bool integers = info(self->dtype).kind <= Kind::integer && !is_floating(exponent.value);
  require(!integers || real(exponent.value) >= 0, exponent.name, " is ", exponent.value, ", but ", self.name, " is ",
          self->dtype, " and has no negative integer powers");
}

void moves(Argument<Scalar> step, DType dtype) {
  const Real v = real(step.value);
  require((v < 0 || v > 0) && (dtype != DType::int64 || exact<Int>(step.value) != 0), step.name, " is ", step.value,
          ", but must not be zero as ", dtype);
}

void is_finite(Argument<Scalar> n) {
  require(std::isfinite(real(n.value)), n.name, " is ", n.value, ", but must be finite");
}

void reaches(Argument<Scalar> start, Argument<Scalar> end, Argument<Scalar> step) {
  const Real from = real(start.value), to = real(end.value);
  require(real(step.value) > 0 ? to >= from : to <= from, step.name, " is ", step.value, ", which does not lead from ",
          start.name, ", ", start.value, ", to ", end.name, ", ", end.value);
}

void no_extreme_of_complex(Argument<std::string_view> reduce, TensorArgument tensor) {
  const bool extreme = reduce.value == "amax" || reduce.value == "amin";
  require(!extreme || !is_complex(tensor->dtype), reduce.name, " is ", reduce.value, ", but ", tensor.name, " is ",
          tensor->dtype, ", which has no order");
}

void has_mean(Argument<std::string_view> reduce, TensorArgument tensor) {
  require(reduce.value != "mean" || sets::has(sets::number | sets::complex, tensor->dtype), reduce.name,
          " is mean, but ", tensor.name, " is ", tensor->dtype, ", which has none");
}

void flag_is(Argument<bool> flag, bool value) {
  require(flag.value == value, flag.name, " must be ", value ? "true" : "false");
}

void one_of(Argument<std::string_view> word, std::initializer_list<std::string_view> words) {
  std::string all;
  for (std::string_view w : words) all += (all.empty() ? "\"" : ", \"") + std::string(w) + '"';
  require(std::ranges::find(words, word.value) != words.end(), word.name, " is \"", word.value,
          "\", but must be one of ", all);
}

void asked_only_with(Argument<const Bools*> output_mask, Int k, TensorArgument tensor) {
  require(tensor || !(*output_mask.value)[static_cast<std::size_t>(k)], "result ", k, " is asked for, but ",
          tensor.name, " is None");
}

void exactly_one(Argument<const Ints*> a, Argument<const Doubles*> b) {
  require((a.value != nullptr) != (b.value != nullptr), "exactly one of ", a.name, " and ", b.name,
          " must be given, but ", a ? "both are" : "neither is");
}

void is_given(Argument<const Ints*> list) { require(bool(list), list.name, " is None, but must be given"); }

void is_given(Argument<std::optional<Int>> n) { require(n.value.has_value(), n.name, " is None, but must be given"); }

}  // namespace rules
}  // namespace assay
