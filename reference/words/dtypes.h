#pragma once

#include "reference/call.h"

// The words in which spec/operators gives dtypes; spec/rules.md defines each.
namespace assay::types {

// ATen's type promotion: tensors with dimensions before scalar tensors before Scalars, within one kind.
class Promotion {
 public:
  void add(const Tensor& tensor);
  void add(const Scalar& scalar);
  void add(DType dtype);  // as of a tensor with dimensions
  DType result() const;   // throws Broken where PyTorch has no common dtype (uint16 and int32)

 private:
  std::optional<DType> dimensioned_, zero_dimensional_, scalar_;
};

DType promote(DType a, DType b);  // of two tensors of one category

inline void add(Promotion& p, TensorArgument t) {
  if (t) p.add(*t.value);
}
inline void add(Promotion& p, Argument<Scalar> s) { p.add(s.value); }
inline void add(Promotion& p, Argument<std::optional<Scalar>> s) {
  if (s.value) p.add(*s.value);
}
inline void add(Promotion& p, Argument<const Tensors*> list) {
  for (const auto& t : *list.value)
    if (t) p.add(*t);
}
inline void add(Promotion& p, DType dtype) { p.add(dtype); }  // as of a tensor with dimensions

// The common dtype of operands; a None does not count.
template <class... Operand>
DType promote(const Operand&... operand) {
  Promotion p;
  (add(p, operand), ...);
  return p.result();
}

inline DType same(TensorArgument tensor) { return tensor->dtype; }

// The dtype of a complex one's parts, any other as it is; and back.
inline DType part(DType dtype) { return info(dtype).part; }
inline DType part(TensorArgument tensor) { return part(tensor->dtype); }
inline DType complex(DType dtype) { return is_floating(dtype) ? complex_of(dtype) : dtype; }
inline DType complex(TensorArgument tensor) { return complex(tensor->dtype); }

// The dtype, or float32 where it is an integer or bool.
inline DType floating(DType dtype) { return is_floating(dtype) || is_complex(dtype) ? dtype : DType::float32; }
inline DType floating(TensorArgument tensor) { return floating(tensor->dtype); }

// The common dtype, or float32 where it is an integer or bool.
template <class... Operand>
DType promote_floating(const Operand&... operand) {
  return floating(promote(operand...));
}

// The common dtype of a division: floating unless a rounding mode is given.
DType division(TensorArgument self, TensorArgument other, Argument<std::optional<std::string_view>> rounding_mode);
DType division(TensorArgument self, Argument<Scalar> other, Argument<std::optional<std::string_view>> rounding_mode);

// The dtype in which an operand of arithmetic is read: one of a single element is not rounded to a half type.
inline DType operand(TensorArgument tensor, DType common) {
  return tensor->count() == 1 && !is_complex(common) ? compute_dtype(common) : common;
}
inline DType operand(Argument<Scalar>, DType common) { return compute_dtype(common); }

// The common dtype, or that of a given out of numbers where the Scalar is the literal.
inline DType unless_given_out(DType common, TensorArgument out, Argument<Scalar> scalar, Int literal) {
  const bool is_literal = !is_bool(scalar.value) && real(scalar.value) == static_cast<Real>(literal);
  return is_literal && out && info(out->dtype).kind != Kind::opaque ? out->dtype : common;
}

// The dtype that an argument names, or the default where it is None.
DType named(Argument<Int> dtype);
DType named(Argument<std::optional<Int>> dtype, DType otherwise);
inline DType floating_named(Argument<std::optional<Int>> dtype, DType otherwise) {
  return floating(named(dtype, otherwise));
}

// The named dtype, or float32 where it is an integer and one of the tensors, which are numbers to it, is floating.
inline DType named_with(Argument<std::optional<Int>> dtype, DType otherwise, TensorArgument a) {
  return is_floating(a->dtype) ? floating_named(dtype, otherwise) : named(dtype, otherwise);
}
inline DType named_with(Argument<std::optional<Int>> dtype, DType otherwise, TensorArgument a, TensorArgument b) {
  return named_with(dtype, otherwise, is_floating(a->dtype) ? a : b);
}

// The dtype argument where given, else that of the given out, else the default.
DType given(Argument<std::optional<Int>> dtype, TensorArgument out, DType otherwise);

// int64 for integers and bool, else the dtype itself: what sums and products of a tensor are.
inline DType accumulated(TensorArgument tensor) {
  return is_floating(tensor->dtype) || is_complex(tensor->dtype) ? tensor->dtype : DType::int64;
}

// The dtype in which a sum or product is made: the given one, else int64 for integers and bool, else the dtype itself.
inline DType sum_dtype(TensorArgument tensor, Argument<std::optional<Int>> dtype, TensorArgument out) {
  return given(dtype, out, accumulated(tensor));
}

// The same, for an operator that is strict about its out.
inline DType sum_dtype(TensorArgument tensor, Argument<std::optional<Int>> dtype) {
  return sum_dtype(tensor, dtype, {"out", nullptr});
}

// The dtype in which a mean is made: that of a sum, but a half type is summed in float32.
inline DType mean_dtype(TensorArgument tensor, Argument<std::optional<Int>> dtype, TensorArgument out) {
  const DType sum = sum_dtype(tensor, dtype, out);
  return is_half(sum) ? DType::float32 : sum;
}

// What any and all are made in: the dtype of the given out, else bool, or uint8 where the tensor is.
DType truth(TensorArgument tensor, TensorArgument out);

// The dtype of the first that is no None.
template <class... T>
DType first(const T&... tensor) {
  std::optional<DType> found;
  ((tensor && !found ? void(found = tensor->dtype) : void()), ...);
  return *found;
}

// bool; a mask without elements has the dtype of the tensor.
inline DType mask_of(TensorArgument tensor) { return tensor->count() == 0 ? tensor->dtype : DType::boolean; }

// The dtype of the given out, else of the Scalar by itself.
DType out_or_scalar(TensorArgument out, Argument<Scalar> scalar);

// The dtype of the given out, else the default or that of the tensor.
inline DType out_or(TensorArgument out, DType otherwise) { return out ? out->dtype : otherwise; }
inline DType out_or(TensorArgument out, TensorArgument tensor) { return out_or(out, tensor->dtype); }

// The dtype where the k-th result is asked for; one that is not has that of the given out.
inline DType asked(Argument<const Bools*> output_mask, Int k, DType dtype, TensorArgument out) {
  return (*output_mask.value)[static_cast<std::size_t>(k)] ? dtype : out_or(out, dtype);
}

// The dtype of the given out, else float32 where a Scalar is floating and int64 where none is.
template <class... S>
DType out_or_range(TensorArgument out, const Argument<S>&... scalar) {
  return out_or(out, (is_floating(scalar.value) || ...) ? DType::float32 : DType::int64);
}

// The dtype of a Scalar by itself: bool, int64 or float32.
DType of(Argument<Scalar> scalar);

}  // namespace assay::types
