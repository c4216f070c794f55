#include "reference/call.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace assay {
namespace {

bool is_list(std::string_view type) { return type.ends_with("[]") || type.ends_with("[]?"); }

void check_tensor(const Tensor& t, std::string_view name, Mode mode) {
  require(is_dim_order(t.dim_order, t.rank()), name, " has sizes ", t.sizes, " and dim order ", t.dim_order,
          ", which is not a permutation of its dimensions");
  if (mode == Mode::rules && t.bytes.empty()) return;
  require(t.bytes.size() == static_cast<std::size_t>(t.count() * info(t.dtype).bytes), name, " is ", describe(t),
          ", which takes ", t.count() * info(t.dtype).bytes, " bytes, but has ", t.bytes.size());
}

void check_arguments(const Operator& op, std::span<const Value> arguments, Mode mode) {
  require(arguments.size() == op.arguments.size(), op.name, " takes ", op.arguments.size(),
          " arguments, out arguments included, but got ", arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const SchemaArgument& a = op.arguments[i];
    require(is_of_type(arguments[i], a), a.name, " must be of type ", a.type, ", but is ", kind_name(arguments[i]));
    if (const Tensor* t = std::get_if<Tensor>(&arguments[i]); t && !a.out) check_tensor(*t, a.name, mode);
    if (const Tensors* list = std::get_if<Tensors>(&arguments[i]); list && !a.out)
      for (const auto& t : *list) {
        require(t || a.type == "Tensor?[]", a.name, " is a list of tensors, but contains None");
        if (t) check_tensor(*t, a.name, mode);
      }
  }
}

// The order is boolean < integer < floating < complex. `cast` and `fits` store a result in its own or a higher kind.
bool can_store(DType result, Call::Stored stored, DType out) {
  if (result == out) return true;
  const Kind from = info(result).kind, to = info(out).kind;
  if (stored == Call::Stored::same || info(result).is_opaque() || info(out).is_opaque()) return false;
  return stored == Call::Stored::any || from <= to;
}

template <class T>
Array<T> absolute(Array<T> a) {
  if constexpr (std::is_same_v<T, Real> || std::is_same_v<T, Complex>)
    return magnitudes(std::move(a));
  else
    return a;
}
template <class T>
T absolute_number(T value) {
  if constexpr (std::is_same_v<T, Real> || std::is_same_v<T, Complex>)
    return std::abs(value);
  else
    return value;
}

// Whether T can hold the values of a dtype.
template <class T>
bool holds(DType dtype) {
  return std::is_same_v<T, Element> || is_complex(dtype) == std::is_same_v<T, Complex>;
}

// The magnitude of a complex result is real and applies to both of its parts.
Buffer<Real> parts_of(const Buffer<Complex>& values, bool magnitude) {
  Buffer<Real> parts;
  parts.reserve(2 * values.size());
  for (const Complex& z : values) {
    const Real size = z.real() < 0 ? z.real() : bounded(std::abs(z));
    parts.push_back(magnitude ? size : z.real());
    parts.push_back(magnitude ? size : z.imag());
  }
  return parts;
}

Answer refusal(Outcome outcome, std::string rule, std::string message) {
  return {outcome, std::move(rule), std::move(message), {}};
}

Answer attempt(const Operator& op, std::span<Value> arguments, Mode mode) {
  Call c(op, arguments, mode);
  const std::string arguments_rule = std::string(op.id).append(".arguments");
  c.rule(arguments_rule);
  try {
    check_arguments(op, arguments, mode);
    op.run(c);
    return c.finish();
  } catch (const Broken& b) {
    return refusal(c.outcome(), std::string(c.rule()), b.sentence);
  } catch (const Fault& f) {
    return refusal(f.outcome, f.rule, f.message);
  } catch (const Unknown&) {
    Answer answer;
    answer.unknown = c.rule();
    return answer;
  } catch (const std::length_error&) {
    return refusal(Outcome::exhausted, "limits.rank", text("a tensor has at most ", max_rank, " dimensions"));
  }
}

}  // namespace

bool is_of_type(const Value& value, const SchemaArgument& argument) {
  std::string_view type = argument.type;
  const bool none = std::holds_alternative<std::monostate>(value);
  if (argument.is_out_number() || (argument.out && none)) return true;
  if (type.ends_with('?')) {
    if (none) return true;
    type.remove_suffix(1);
  }
  const auto is = [&]<class... T>(std::type_identity<T>...) { return (std::holds_alternative<T>(value) || ...); };
  using std::type_identity;
  if (type == "Tensor") return is(type_identity<Tensor>{});
  if (type == "Tensor[]" || type == "Tensor?[]") return is(type_identity<Tensors>{});
  if (type == "Scalar") return is(type_identity<bool>{}, type_identity<Int>{}, type_identity<double>{});
  if (type == "float") return is(type_identity<Int>{}, type_identity<double>{});
  if (type == "bool") return is(type_identity<bool>{});
  if (type == "str") return is(type_identity<std::string>{});
  if (type == "int[]") return is(type_identity<Ints>{});
  if (const Bools* flags = std::get_if<Bools>(&value)) return type == "bool[]" && std::ssize(*flags) == argument.length;
  if (type == "float[]") return is(type_identity<Doubles>{});
  return is(type_identity<Int>{});  // int, ScalarType, MemoryFormat
}

Argument<double> Call::real(std::size_t i) const {
  const Int* whole = std::get_if<Int>(&arguments_[i]);
  return {name(i), whole ? static_cast<double>(*whole) : std::get<double>(arguments_[i])};
}

Argument<Scalar> Call::scalar(std::size_t i) const { return some(optional_scalar(i)); }

Argument<std::optional<Int>> Call::optional_integer(std::size_t i) const {
  if (const bool* b = std::get_if<bool>(&arguments_[i])) return {name(i), Int{*b}};
  const Int* v = std::get_if<Int>(&arguments_[i]);
  return {name(i), v ? std::optional(*v) : std::nullopt};
}

Argument<std::optional<double>> Call::optional_real(std::size_t i) const {
  if (std::holds_alternative<std::monostate>(arguments_[i])) return {name(i), std::nullopt};
  return {name(i), real(i).value};
}

Argument<std::optional<Scalar>> Call::optional_scalar(std::size_t i) const {
  return {name(i), number_in(arguments_[i])};
}

Argument<std::optional<std::string_view>> Call::optional_string(std::size_t i) const {
  const std::string* v = std::get_if<std::string>(&arguments_[i]);
  return {name(i), v ? std::optional<std::string_view>(*v) : std::nullopt};
}

template <class T>
Array<T> Call::read(const TensorArgument& tensor, DType dtype) const {
  if (!std::is_same_v<T, Element> || tensor->dtype != dtype)
    for (DType d : {tensor->dtype, dtype})
      require(!info(d).is_opaque(), tensor.name, " is ", d, ", whose values have no arithmetic");
  require(holds<T>(dtype), tensor.name, " is ", tensor->dtype, ", but is read as ",
          is_complex(dtype) ? "a real number" : "a complex number");
  if (rules_only()) return {};
  Array<T> values = assay::read<T>(*tensor.value, dtype);
  return absolute_ ? absolute(std::move(values)) : values;
}

template <class T>
std::optional<Array<T>> Call::read_optional(const TensorArgument& tensor, DType dtype) const {
  return tensor ? std::optional(read<T>(tensor, dtype)) : std::nullopt;
}

template <class T>
Arrays<T> Call::read_all(const Argument<const Tensors*>& tensors, DType dtype) const {
  Arrays<T> all;
  for (const auto& t : *tensors.value) all.push_back(read<T>(TensorArgument{tensors.name, &*t}, dtype));
  return all;
}

template <class T>
T Call::read(const Argument<Scalar>& scalar, DType dtype) const {
  const T value = number<T>(scalar.value, dtype);
  return absolute_ ? absolute_number(value) : value;
}

template <class T>
T Call::read_exact(const Argument<Scalar>& scalar) const {
  const T value = exact<T>(scalar.value);
  return absolute_ ? absolute_number(value) : value;
}

template <class T>
std::optional<T> Call::read_optional(const Argument<std::optional<Scalar>>& scalar, DType dtype) const {
  return scalar ? std::optional(read<T>(some(scalar), dtype)) : std::nullopt;
}

namespace {

// The same check as for any tensor: the strides of an empty tensor are products of its other sizes, and must fit 64
// bits in bytes.
void require_strides(const Dims& sizes, DType dtype) {
  Int left = std::numeric_limits<Int>::max() / info(dtype).bytes;
  for (const Int n : sizes) left /= std::max<Int>(n, 1);
  if (left == 0)
    throw Fault(Outcome::exhausted, "limits.memory", text("a result of sizes ", sizes, " has strides beyond 64 bits"));
}

}  // namespace

void Call::add_result(std::size_t argument, const Tensor* out, DType computed, Stored stored, const Dims& sizes,
                      const Dims& dim_order, bool in_list) {
  if (!rules_only()) require_strides(sizes, computed);
  const bool keeps_order = out && is_dim_order(out->dim_order, sizes.size());
  if (out)
    require(can_store(computed, stored, out->dtype), name(argument), " is ", out->dtype, ", but the result is ",
            computed);
  const DType dtype = out ? out->dtype : computed;
  const Dims& order = keeps_order ? out->dim_order : dim_order;
  results_.push_back({argument,
                      computed,
                      stored,
                      in_list,
                      rules_only() ? Tensor{dtype, sizes, order, {}} : make(dtype, sizes, order),
                      {}});
}

void Call::promise(std::size_t i, DType computed, Stored stored, const Dims& sizes, const Dims& dim_order) {
  add_result(i, std::get_if<Tensor>(&arguments_[i]), computed, stored, sizes, dim_order, false);
}

void Call::promise_list(std::size_t i, DType computed, Stored stored, const Buffer<Dims>& sizes) {
  const Tensors* outs = std::get_if<Tensors>(&arguments_[i]);
  if (outs)
    require(outs->size() == sizes.size(), name(i), " has ", outs->size(), " tensors, but there are ", sizes.size(),
            " results");
  for (std::size_t k = 0; k < sizes.size(); ++k)
    add_result(i, outs && (*outs)[k] ? &*(*outs)[k] : nullptr, computed, stored, sizes[k],
               Dims::counting(sizes[k].size()), true);
}

Int Call::elements() const {
  Int all = 0;
  for (const Result& r : results_) all += r.tensor.count();
  return all;
}

// PyTorch fills such an out as if by a Scalar, and a half type takes any float from a Scalar.
bool Call::must_fit(const Result& result) { return result.stored == Stored::fits && !is_half(result.tensor.dtype); }

template <class T>
void Call::check_fit(const Result& result, const Array<T>& values) const {
  if constexpr (std::is_same_v<T, Real> || std::is_same_v<T, Int>) {
    if (!must_fit(result)) return;
    for (const Scalar v : values.data)
      if (!fits(v, result.tensor.dtype))
        throw Fault(Outcome::fault, text(op_.id, ".out"),
                    text(name(result.argument), " is ", result.tensor.dtype, ", which cannot hold the result ", v));
  }
}

template <class T>
void Call::write(std::size_t k, Array<T> values) {
  Result& r = results_[k];
  if constexpr (!std::is_same_v<T, Element>)
    require(!info(r.computed).is_opaque(), name(r.argument), " would be ", r.computed, ", which cannot hold numbers");
  check_fit(r, values);
  if constexpr (std::is_same_v<T, Real> || std::is_same_v<T, Complex>)
    for (T& v : values.data)
      if (absolute_) v = std::abs(v);  // a divisor may be negative
  if constexpr (std::is_same_v<T, Real> || std::is_same_v<T, Complex>) {
    r.unrounded.dtype = r.computed;
    if (r.tensor.dtype == r.computed) {
      assay::write(values, r.tensor);
    } else {
      Tensor own = make(r.computed, r.tensor.sizes, r.tensor.dim_order);
      assay::write(values, own);
      r.tensor = cast(own, r.tensor.dtype);
    }
    if constexpr (std::is_same_v<T, Complex>)
      r.unrounded.values = parts_of(values.data, magnitude());
    else
      r.unrounded.values = std::move(values.data);
  } else {
    Tensor own = make(r.computed, r.tensor.sizes, r.tensor.dim_order);
    assay::write(values, own);
    r.tensor = cast(own, r.tensor.dtype);
  }
}

template <class T>
void Call::write_list(std::size_t k, const Arrays<T>& values) {
  for (const Array<T>& v : values) write(k++, v);
}

Answer Call::finish() {
  Answer answer;
  std::vector<Value> outs(arguments_.size());
  for (std::size_t i = 0; i < outs.size(); ++i)
    if (op_.arguments[i].out && is_list(op_.arguments[i].type)) outs[i] = Tensors{};
  for (std::size_t k = 0; k < results_.size(); ++k) {
    Result& r = results_[k];
    if (!terms_.empty()) r.unrounded.terms = std::max<Int>(terms_[terms_.size() == 1 ? 0 : k], 1);
    if (rules_only() && must_fit(r)) answer.unknown = text(op_.id, ".out");
    if (r.in_list)
      std::get<Tensors>(outs[r.argument]).emplace_back(std::move(r.tensor));
    else
      outs[r.argument] = std::move(r.tensor);
    answer.unrounded.push_back(std::move(r.unrounded));
  }
  for (const auto& [argument, number] : numbers_) {
    outs[argument] = std::visit([](auto n) -> Value { return n; }, number);
    answer.unrounded.emplace_back();
  }
  for (std::size_t i = 0; i < outs.size(); ++i)  // nothing throws from here on, so that either all outs change or none
    if (op_.arguments[i].out) arguments_[i] = std::move(outs[i]);
  return answer;
}

Answer call(const Operator& op, std::span<Value> arguments, const Budget& budget, Mode mode) {
  const Budget::Scope scope(budget, op.name);
  try {
    return attempt(op, arguments, mode);
  } catch (const std::bad_alloc&) {
    return refusal(Outcome::exhausted, "limits.memory",
                   "no memory left");  // the strings are short, so that they need no memory
  }
}

template Array<Real> Call::read(const TensorArgument&, DType) const;
template std::optional<Array<Real>> Call::read_optional(const TensorArgument&, DType) const;
template Arrays<Real> Call::read_all(const Argument<const Tensors*>&, DType) const;
template Real Call::read(const Argument<Scalar>&, DType) const;
template Real Call::read_exact(const Argument<Scalar>&) const;
template std::optional<Real> Call::read_optional(const Argument<std::optional<Scalar>>&, DType) const;
template void Call::write(std::size_t, Array<Real>);
template void Call::write_list(std::size_t, const Arrays<Real>&);
template Array<Int> Call::read(const TensorArgument&, DType) const;
template std::optional<Array<Int>> Call::read_optional(const TensorArgument&, DType) const;
template Arrays<Int> Call::read_all(const Argument<const Tensors*>&, DType) const;
template Int Call::read(const Argument<Scalar>&, DType) const;
template Int Call::read_exact(const Argument<Scalar>&) const;
template std::optional<Int> Call::read_optional(const Argument<std::optional<Scalar>>&, DType) const;
template void Call::write(std::size_t, Array<Int>);
template void Call::write_list(std::size_t, const Arrays<Int>&);
template Array<Complex> Call::read(const TensorArgument&, DType) const;
template std::optional<Array<Complex>> Call::read_optional(const TensorArgument&, DType) const;
template Arrays<Complex> Call::read_all(const Argument<const Tensors*>&, DType) const;
template Complex Call::read(const Argument<Scalar>&, DType) const;
template Complex Call::read_exact(const Argument<Scalar>&) const;
template std::optional<Complex> Call::read_optional(const Argument<std::optional<Scalar>>&, DType) const;
template void Call::write(std::size_t, Array<Complex>);
template void Call::write_list(std::size_t, const Arrays<Complex>&);
template Array<Element> Call::read(const TensorArgument&, DType) const;
template std::optional<Array<Element>> Call::read_optional(const TensorArgument&, DType) const;
template Arrays<Element> Call::read_all(const Argument<const Tensors*>&, DType) const;
template Element Call::read(const Argument<Scalar>&, DType) const;
template std::optional<Element> Call::read_optional(const Argument<std::optional<Scalar>>&, DType) const;
template void Call::write(std::size_t, Array<Element>);
template void Call::write_list(std::size_t, const Arrays<Element>&);

}  // namespace assay
