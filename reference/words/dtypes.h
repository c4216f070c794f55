#pragma once

#include "reference/words/rules.h"

// The words that give dtypes; spec/rules.md defines each. Most are expressions there, which
// words.gen.h declares. This header declares those that are computations.
namespace assay::types {

// ATen's type promotion. Within one kind of dtype, tensors with dimensions have priority over tensors of rank 0, and
// these over Scalars.
class Promotion {
 public:
  void add(const Tensor& tensor);
  void add(const Scalar& scalar);
  void add(DType dtype);  // as of a tensor with dimensions
  // Throws Broken if PyTorch has no common dtype, as for uint16 and int32.
  DType result() const;

 private:
  std::optional<DType> dimensioned_, zero_dimensional_, scalar_;
};

// The common dtype of two tensors of the same priority: both with dimensions, or both without.
DType promote(DType a, DType b);

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

// The common dtype of operands. An operand that is None is ignored.
template <class... Operand>
DType promote(const Operand&... operand) {
  Promotion p;
  (add(p, operand), ...);
  return p.result();
}

// `part` is the dtype of the parts of a complex dtype, and `complex` the complex dtype with such parts. Other dtypes
// are returned unchanged.
inline DType part(DType dtype) { return info(dtype).part; }
inline DType part(TensorArgument tensor) { return part(tensor->dtype); }
inline DType complex(DType dtype) { return is_floating(dtype) ? complex_of(dtype) : dtype; }
inline DType complex(TensorArgument tensor) { return complex(tensor->dtype); }

// The common dtype of operands, or float32 if that is an integer dtype or bool.
template <class... Operand>
DType promote_floating(const Operand&... operand) {
  return floating(promote(operand...));
}

// The common dtype, or, if the Scalar is the literal, the dtype of the out if it is given and holds numbers.
inline DType unless_given_out(DType common, TensorArgument out, Argument<Scalar> scalar, Int literal) {
  const bool is_literal = !is_bool(scalar.value) && real(scalar.value) == static_cast<Real>(literal);
  return is_literal && out && info(out->dtype).kind != Kind::opaque ? out->dtype : common;
}

// The dtype that an argument names, or the default dtype if the argument is None.
DType named(Argument<Int> dtype);
DType named(Argument<std::optional<Int>> dtype, DType otherwise);

// The dtype of the first argument that is not None.
template <class... T>
DType first(const T&... tensor) {
  std::optional<DType> found;
  ((tensor && !found ? void(found = tensor->dtype) : void()), ...);
  return *found;
}

// The dtype of the out if it is given. Otherwise float32 if a Scalar is floating, else int64.
template <class... S>
DType out_or_range(TensorArgument out, const Argument<S>&... scalar) {
  return out_or(out, (is_floating(scalar.value) || ...) ? DType::float32 : DType::int64);
}

// The dtype of a Scalar without other operands: bool, int64 or float32.
DType of(Argument<Scalar> scalar);

}  // namespace assay::types
