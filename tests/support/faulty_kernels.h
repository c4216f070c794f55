#pragma once

// The mistakes that authors of kernels make, each in one operator, with the words that a right cause has. A kernel that
// has no mistake of its own answers as the reference does.

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "conformance/cases/mutation.h"
#include "conformance/testee/copied.h"
#include "reference/call.h"
#include "reference/families.h"
#include "reference/words/indexing.h"

namespace assay::faulty {

// A call of a kernel. The mistake reads and changes the arguments, calls run(), and changes the outs.
class Kernel {
 public:
  Kernel(const Operator& op, std::vector<Value> arguments) : op_(op), arguments_(std::move(arguments)) {}

  Value& operator[](std::string_view name) {
    const auto at = std::ranges::find(op_.arguments, name, &SchemaArgument::name);
    return arguments_.at(static_cast<std::size_t>(at - op_.arguments.begin()));
  }
  Tensor& tensor(std::string_view name) { return std::get<Tensor>((*this)[name]); }
  Tensor& out() { return std::get<Tensor>(arguments_[arguments_.size() - op_.outs()]); }
  Int& integer(std::string_view name) { return std::get<Int>((*this)[name]); }
  Ints& ints(std::string_view name) { return std::get<Ints>((*this)[name]); }
  bool& flag(std::string_view name) { return std::get<bool>((*this)[name]); }
  bool has(std::string_view name) { return !std::holds_alternative<std::monostate>((*this)[name]); }
  Real number(std::string_view name) { return real(*number_in((*this)[name])); }
  Array<Real> numbers(std::string_view name) { return read<Real>(tensor(name)); }

  // Whether all tensors are of real numbers.
  bool has_numbers() const {
    return std::ranges::none_of(arguments_, [](const Value& v) {
      const Tensor* t = std::get_if<Tensor>(&v);
      return t && (is_complex(t->dtype) || info(t->dtype).is_opaque());
    });
  }

  bool run() {
    answer_ = call(op_, arguments_);
    return answer_.outcome == Outcome::ok;
  }
  void refuse(Outcome outcome) { answer_.outcome = outcome; }
  const Answer& answer() const { return answer_; }
  const std::vector<Value>& arguments() const { return arguments_; }
  Int written = std::numeric_limits<Int>::max();  // so many elements of an out are written

 private:
  const Operator& op_;
  std::vector<Value> arguments_;
  Answer answer_;
};

// Replaces results by other numbers. Results that stay are not touched, so that no rounding changes them.
inline void replace(Tensor& out, const std::function<Real(Int at, Real right)>& f) {
  if (is_complex(out.dtype) || info(out.dtype).is_opaque()) return;
  Array<Real> numbers = read<Real>(out);
  std::vector<bool> stays;
  for (Int i = 0; i < numbers.count(); ++i) {
    const Real right = numbers[i];
    numbers[i] = f(i, right);
    const bool equal = numbers[i] == right && std::signbit(numbers[i]) == std::signbit(right);
    stays.push_back(equal || (std::isnan(numbers[i]) && std::isnan(right)));
  }
  const Array<Bits> before = read_parts(out);
  write(numbers, out);
  Array<Bits> after = read_parts(out);
  for (Int i = 0; i < after.count(); ++i)
    if (stays[static_cast<std::size_t>(i)]) after[i] = before[i];
  write_parts(after, out);
}

// Changes each result by the numbers of self, and of other, that it was computed from.
inline void each(Kernel& k, const std::function<Real(Real self, Real right)>& f) {
  if (!k.has_numbers()) return void(k.run());
  const Array<Real> self = k.numbers("self");
  if (k.run() && self.count() == k.out().count()) replace(k.out(), [&](Int i, Real r) { return f(self[i], r); });
}
inline void each_pair(Kernel& k, const std::function<Real(Real self, Real other, Real right)>& f) {
  if (!k.has_numbers()) return void(k.run());
  const Array<Real> self = k.numbers("self"), other = k.numbers("other");
  if (!k.run()) return;
  const Dims sizes = k.out().sizes;
  const auto x = families::broadcast(self, sizes), y = families::broadcast(other, sizes);
  std::vector<Dims> at;
  for (const Dims& i : indices(sizes)) at.push_back(i);
  replace(k.out(), [&](Int i, Real r) {
    const Dims& index = at[static_cast<std::size_t>(i)];
    return f(x.at(index, i), y.at(index, i), r);
  });
}
inline void each_result(Kernel& k, const std::function<Real(Real)>& f) {
  if (k.run()) replace(k.out(), [&](Int, Real r) { return f(r); });
}

inline Tensor part(const Tensor& t, Int dim, Int begin, Int end) {
  std::vector<Value> a{t, dim, begin, end, Int{1}, {}};
  call(*find_operator("aten::slice_copy.Tensor_out"), a);
  return std::get<Tensor>(a.back());
}

// Computes each result of a reduction from the numbers that it combines.
inline void reduce(Kernel& k, const std::function<Real(const std::vector<Real>&)>& f) {
  const Tensor self = k.tensor("self");
  if (!k.run() || !is_floating(self.dtype) || self.rank() == 0) return;
  std::vector<bool> gone(static_cast<std::size_t>(self.rank()), false);
  const Ints* dims = std::get_if<Ints>(&k["dim"]);
  for (const Int d : dims ? *dims : Ints()) gone[static_cast<std::size_t>(d < 0 ? d + self.rank() : d)] = true;
  if (!dims || dims->empty()) gone.assign(gone.size(), true);
  Array<Real> out = read<Real>(k.out());
  std::vector<std::vector<Real>> combined(static_cast<std::size_t>(out.count()));
  const Array<Real> all = read<Real>(self);
  Int flat = 0;
  for (const Dims& i : indices(self.sizes)) {
    Int at = 0;
    for (int d = 0; d < i.size(); ++d)
      if (!gone[static_cast<std::size_t>(d)]) at = at * self.sizes[d] + i[d];
    combined[static_cast<std::size_t>(at)].push_back(all[flat++]);
  }
  for (Int j = 0; j < out.count(); ++j) out[j] = f(combined[static_cast<std::size_t>(j)]);
  write(out, k.out());
}

// The elements of each row in one dimension are read and replaced.
inline void along(Kernel& k, Int dim, const std::function<void(std::vector<Real>& row)>& f) {
  const Tensor self = k.tensor("self");
  if (!k.run() || self.rank() == 0 || self.count() == 0) return;
  if (dim < 0) dim += self.rank();
  Int inner = 1;
  for (Int d = dim + 1; d < self.rank(); ++d) inner *= self.sizes[d];
  const Int n = self.sizes[dim];
  Array<Real> all = read<Real>(self);
  for (Int o = 0; o < all.count() / (n * inner); ++o)
    for (Int i = 0; i < inner; ++i) {
      std::vector<Real> row;
      for (Int j = 0; j < n; ++j) row.push_back(all[(o * n + j) * inner + i]);
      f(row);
      for (Int j = 0; j < n; ++j) all[(o * n + j) * inner + i] = row[static_cast<std::size_t>(j)];
    }
  write(all, k.out());
}

inline void softmax_without_maximum(Kernel& k) {
  along(k, k.integer("dim"), [](std::vector<Real>& row) {
    float sum = 0;
    for (Real& x : row) x = std::exp(static_cast<float>(x)), sum += static_cast<float>(x);
    for (Real& x : row) x = static_cast<float>(x) / sum;
  });
}

// Replaces each number of a tensor by another of its numbers.
inline void each_number(Tensor& t, const std::function<Int(Int at, Int number)>& source) {
  const Array<Element> old = read<Element>(t);
  Array<Element> now = old;
  for (Int i = 0; i < now.count(); ++i) now[i] = old[source(i, now.count())];
  write(now, t);
}

inline void as_contiguous(Tensor& t) { t.dim_order = Dims::counting(t.rank()); }
// What a norm knows of a row.
struct Norm {
  Real mean = 0, variance = 0, squares = 0, count = 0, eps = 0;  // squares: the sum of them
};
// A norm that divides by divisor(row) in all calls without weight and bias.
inline void normalise(Kernel& k, const std::function<Real(const Norm& row)>& divisor) {
  const Array<Real> input = k.numbers("input");
  if (!k.run() || k.has("weight") || k.has("bias")) return;
  Array<Real> out = read<Real>(k.out()), rstd = read<Real>(std::get<Tensor>(k["out2"]));
  const Int each = rstd.count() ? out.count() / rstd.count() : 0;
  for (Int i = 0; i < rstd.count(); ++i) {
    const auto row = std::span(input.data).subspan(static_cast<std::size_t>(i * each), static_cast<std::size_t>(each));
    Norm n{.count = static_cast<Real>(each), .eps = k.number("eps")};
    for (const Real x : row) n.mean += x / n.count, n.squares += x * x;
    for (const Real x : row) n.variance += (x - n.mean) * (x - n.mean) / n.count;
    if (each > 0) rstd[i] = 1 / divisor(n);
    for (Int j = 0; j < each; ++j) out[i * each + j] = (row[static_cast<std::size_t>(j)] - n.mean) * rstd[i];
  }
  write(out, k.out()), write(rstd, std::get<Tensor>(k["out2"]));
}
inline void eps_outside_of_root(Kernel& k) {
  normalise(k, [](const Norm& n) { return std::sqrt(n.variance) + n.eps; });
}
inline Real with_bits(Real x, int bits) {
  int exponent = 0;
  if (x == 0 || !std::isfinite(x)) return x;
  const Real m = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, bits)), exponent - bits);
}

// Takes each element of `out` from the place of `from` to which `move` changes its own.
inline void each_place(Tensor& out, const Tensor& from, const std::function<void(Dims&)>& move) {
  const Array<Element> old = read<Element>(from);
  Array<Element> now(out.sizes);
  Int flat = 0;
  for (Dims i : indices(out.sizes)) {
    move(i);
    now[flat++] = old(i);
  }
  write(now, out);
}
// Answers as another operator of the same arguments, if that accepts the call.
inline void become(Kernel& k, std::string_view other) {
  std::vector<Value> all = k.arguments();
  if (call(*find_operator(other), all).outcome == Outcome::ok && k.run()) k.out() = std::get<Tensor>(all.back());
}

struct Mistake {
  const char* name;
  const char* op;
  void (*kernel)(Kernel&);
  const char* right;  // a regular expression for the sentence of a right cause
};

inline const std::vector<Mistake>& mistakes() {
  using K = Kernel&;
  static const std::vector<Mistake> all{
      // values
      {"NaN becomes 0", "aten::relu.out", [](K k) { each(k, [](Real x, Real r) { return std::isnan(x) ? 0 : r; }); },
       "0 for NaN"},
      {"-0 is kept", "aten::abs.out",
       [](K k) { each(k, [](Real x, Real r) { return x == 0 && std::signbit(x) ? -0.0 : r; }); },
       "-0 for -0|for a negative zero"},
      {"0 - x for the negative", "aten::neg.out", [](K k) { each(k, [](Real x, Real r) { return x == 0 ? 0 : r; }); },
       "0 where the right result is -0"},
      {"NaN is lost", "aten::maximum.out",
       [](K k) { each_pair(k, [](Real a, Real b, Real r) { return std::isnan(a)   ? b
                                                                  : std::isnan(b) ? a
                                                                                  : r; }); },
       "operand is NaN|for NaN|NaN in"},
      {"min of max where min is above max", "aten::clamp.out",
       [](K k) {
         const bool both = k.has("min") && k.has("max");
         const Real low = both ? k.number("min") : 0, high = both ? k.number("max") : 1;
         each(k, [&](Real x, Real r) { return low > high && !std::isnan(x) ? low : r; });
       },
       "min is above max|right result is max"},
      {"halves away from zero", "aten::round.out",
       [](K k) { each(k, [](Real x, Real r) { return std::isfinite(x) ? std::round(x) : r; }); },
       "halfway|rounded away from 0"},
      {"truncated quotient", "aten::floor_divide.out",
       [](K k) {
         each_pair(k, [](Real a, Real b, Real r) {
           return b != 0 && std::isfinite(a / b) && std::isfinite(r) ? std::trunc(a / b) : r;
         });
       },
       "truncat|toward 0|opposite signs"},
      {"sign of the dividend", "aten::remainder.Tensor_out",
       [](K k) {
         each_pair(k, [](Real a, Real b, Real r) { return b != 0 && std::isfinite(r) ? std::fmod(a, b) : r; });
       },
       "sign of the first operand|opposite signs"},
      {"largest in place of infinity", "aten::exp.out",
       [](K k) {
         const DType dtype = k.out().dtype;
         each(k, [&](Real x, Real r) { return std::isfinite(x) && std::isinf(r) ? largest(dtype) : r; });
       },
       "largest number for|overflow|for results beyond|where infinity is right"},
      {"subnormal numbers are flushed", "aten::mul.out",
       [](K k) {
         const DType dtype = k.out().dtype;
         each_result(k, [&](Real r) {
           return is_floating(dtype) && std::fabs(r) < std::ldexp(1.0, info(dtype).least_exponent) ? 0 * r : r;
         });
       },
       "subnormal"},
      {"log(1 + x)", "aten::log1p.out",
       [](K k) {
         const DType dtype = k.out().dtype;
         each(k, [&](Real x, Real r) { return std::isfinite(r) && x != 0 ? std::log(round_to(dtype, 1 + x)) : r; });
       },
       "1 \\+ x|near 0"},
      {"saturates", "aten::add.out",
       [](K k) {
         const DType dtype = k.out().dtype;
         const Real alpha = k.number("alpha");
         each_pair(k, [&](Real a, Real b, Real r) {
           return is_integer(dtype) ? std::clamp<Real>(a + alpha * b, least_integer(dtype), largest_integer(dtype)) : r;
         });
       },
       "saturat|wrap|overflow"},
      {"integers as float32", "aten::sub.out",
       [](K k) {
         const Real alpha = k.number("alpha");
         const bool integers = is_integer(k.out().dtype);
         each_pair(k, [&](Real a, Real b, Real r) {
           return integers ? static_cast<float>(static_cast<float>(a) - static_cast<float>(alpha * b)) : r;
         });
       },
       "float32|2\\^24"},
      {"comparison as float32", "aten::eq.Tensor_out",
       [](K k) {
         each_pair(k, [](Real a, Real b, Real) { return static_cast<float>(a) == static_cast<float>(b) ? 1 : 0; });
       },
       "float32|2\\^24"},
      {"logical shift", "aten::bitwise_right_shift.Tensor_out",
       [](K k) { each_pair(k, [](Real a, Real, Real r) { return a < 0 ? 1 : r; }); }, "negative"},
      {"converts other to the dtype of self", "aten::div.out",
       [](K k) {
         Tensor& other = k.tensor("other");
         other = cast(other, k.tensor("self").dtype);
         k.run();
       },
       "other to the dtype|different dtypes"},
      {"C's % of integers", "aten::remainder.Scalar_out",
       [](K k) {
         const Tensor self = k.tensor("self");
         const auto other = number_in(k["other"]);
         if (!k.run() || !is_integer(self.dtype) || !is_integer(k.out().dtype) || is_floating(*other)) return;
         const Array<Int> all = read<Int>(self);
         Array<Int> out = read<Int>(k.out());
         const Int divisor = wrap_to(k.out().dtype, exact<Int>(*other));
         for (Int i = 0; i < all.count() && divisor > 0; ++i) out[i] = wrap_to(k.out().dtype, all[i] % divisor);
         write(out, k.out());
       },
       "sign of the first operand"},
      {"the count of a shift modulo the bits of a register", "aten::bitwise_left_shift.Tensor_out",
       [](K k) {
         Tensor& other = k.tensor("other");
         const bool is_wide = k.tensor("self").dtype == DType::int64 || other.dtype == DType::int64;
         if (!is_integer(other.dtype)) return void(k.run());
         Array<Int> counts = read<Int>(other);
         for (Int& n : counts.data) n &= is_wide ? 63 : 31;
         write(counts, other);
         k.run();
       },
       "shift count modulo 32 or 64"},
      {"float64 is computed in float32", "aten::sum.IntList_out",
       [](K k) {
         if (k.run() && k.out().dtype == DType::float64) k.out() = cast(cast(k.out(), DType::float32), DType::float64);
       },
       "float64 results in float32"},
      {"rounds to integers", "aten::_to_copy.out",
       [](K k) {
         const DType dtype = k.out().dtype;
         each(k, [&](Real x, Real r) { return is_integer(dtype) && std::fabs(x) < 100 ? std::nearbyint(x) : r; });
       },
       "nearest integer|fractions"},
      {"wraps beyond quant_max", "quantized_decomposed::quantize_per_tensor.out",
       [](K k) {
         const Array<Real> input = k.numbers("input");
         const Real scale = k.number("scale"), zero = k.number("zero_point"), most = k.number("quant_max");
         if (!k.run()) return;
         replace(k.out(), [&](Int i, Real r) {
           const Real q = std::nearbyint(input[i] / scale) + zero;
           return std::isfinite(q) && q > most ? r - most + 1 : r;
         });
       },
       "quant_max"},
      {"NaN is false", "aten::logical_not.out",
       [](K k) { each(k, [](Real x, Real r) { return std::isnan(x) ? 1 : r; }); }, "for NaN"},
      {"equal operands", "aten::logical_xor.out",
       [](K k) { each_pair(k, [](Real a, Real b, Real r) { return a == b && a != 0 ? 1 : r; }); }, "equal"},

      // arguments
      {"alpha is ignored", "aten::add.out", [](K k) { k["alpha"] = Int{1}, k.run(); }, "ignores alpha"},
      {"approximate is ignored", "aten::gelu.out", [](K k) { k["approximate"] = std::string("none"), k.run(); },
       "ignores approximate"},
      {"negative_slope is ignored", "aten::leaky_relu.out", [](K k) { k["negative_slope"] = 0.01, k.run(); },
       "ignores negative_slope"},
      {"rounding_mode is ignored", "aten::div.out_mode", [](K k) { k["rounding_mode"] = {}, k.run(); },
       "ignores rounding_mode"},
      {"keepdim is ignored", "aten::sum.IntList_out", [](K k) { k.flag("keepdim") = false, k.run(); },
       "ignores keepdim"},
      {"negative dims are mis-wrapped", "aten::mean.out",
       [](K k) {
         if (Ints* dims = std::get_if<Ints>(&k["dim"]))
           for (Int& d : *dims)
             if (d < 0) d = std::max<Int>(0, d + k.tensor("self").rank() - 1);
         k.run();
       },
       "negative dim|dim is negative|dim has negative|least of dim is at most -1"},
      {"always the last dim", "aten::cumsum.out", [](K k) { k.integer("dim") = -1, k.run(); }, "last dimension"},
      {"always the first dim", "aten::cumprod.out", [](K k) { k.integer("dim") = 0, k.run(); }, "first dimension"},
      {"dims: the first alone", "aten::flip.out",
       [](K k) {
         if (k.ints("dims").size() > 1) k.ints("dims").resize(1);
         k.run();
       },
       "first (entry |number )?of dims"},
      {"eps is ignored", "aten::native_layer_norm.out", [](K k) { k["eps"] = 0.0, k.run(); }, "ignores eps"},
      {"eps outside of the root", "aten::native_group_norm.out", eps_outside_of_root, "eps outside"},
      {"correction is ignored", "aten::var.correction_out", [](K k) { k["correction"] = {}, k.run(); },
       "ignores correction"},
      {"weight is ignored", "aten::native_group_norm.out", [](K k) { k["weight"] = {}, k.run(); }, "ignores weight"},
      {"bias is ignored", "aten::linear.out", [](K k) { k["bias"] = {}, k.run(); }, "ignores bias"},
      {"beta is ignored", "aten::addmm.out", [](K k) { k["beta"] = Int{1}, k.run(); }, "ignores beta"},
      {"elements that are kept stay as they are", "aten::native_dropout.out",
       [](K k) {
         const Tensor input = k.tensor("input");
         if (!k.run() || is_complex(input.dtype)) return;
         const Array<Real> mask = read<Real>(std::get<Tensor>(k["out1"])), all = read<Real>(input);
         replace(k.out(), [&](Int i, Real) { return mask[i] != 0 ? all[i] : 0; });
       },
       "1 - p"},
      {"zero_point is ignored", "quantized_decomposed::dequantize_per_tensor.out",
       [](K k) { k["zero_point"] = Int{0}, k.run(); }, "ignores zero_point"},
      {"value is ignored", "aten::constant_pad_nd.out", [](K k) { k["value"] = Int{0}, k.run(); }, "ignores value"},
      {"diagonal is ignored", "aten::tril.out", [](K k) { k["diagonal"] = Int{0}, k.run(); }, "ignores diagonal"},
      {"step is ignored", "aten::slice_copy.Tensor_out",
       [](K k) {
         const Tensor self = k.tensor("self");
         const Int step = k.integer("step");
         if (!k.run() || step == 1 || self.rank() == 0) return;
         Int dim = k.integer("dim") + (k.integer("dim") < 0 ? self.rank() : 0);
         const Int begin = std::clamp<Int>(
             k.has("start") ? k.integer("start") < 0 ? k.integer("start") + self.sizes[dim] : k.integer("start") : 0, 0,
             self.sizes[dim]);
         k.out() = arranged(part(self, dim, begin, begin + k.out().sizes[dim]), k.out().dim_order);
       },
       "ignores step|step is (not 1|at least 2)"},
      {"groups are ignored", "aten::convolution.out",
       [](K k) {
         Tensor& input = k.tensor("input");
         Int& groups = k.integer("groups");
         if (groups > 1 && !k.flag("transposed") && input.rank() > 2)
           input = part(input, 1, 0, input.sizes[1] / groups), groups = 1;
         k.run();
       },
       "ignores groups|groups is (not 1|at least 2)"},
      {"bias is added twice where there is a batch", "aten::convolution.out",
       [](K k) {
         if (k.has("bias") && k.tensor("input").rank() > 2 && k.tensor("input").sizes[0] > 1) {
           Array<Real> bias = k.numbers("bias");
           for (Real& x : bias.data) x *= 2;
           write(bias, k.tensor("bias"));
         }
         k.run();
       },
       "bias twice.*(batch|first size of input)"},
      {"padding of the first dimension for all", "aten::convolution.out",
       [](K k) {
         Ints& padding = k.ints("padding");
         std::ranges::fill(padding, padding.at(0));
         k.run();
       },
       "(first (entry|number) of|first of) padding|padding of the first dimension"},
      {"stride and dilation are swapped", "aten::convolution.out",
       [](K k) {
         if (!k.flag("transposed")) std::swap(k["stride"], k["dilation"]);
         k.run();
       },
       "(swaps|exchanges) (stride and dilation|dilation and stride)"},
      {"dilation is ignored", "aten::max_pool2d_with_indices.out",
       [](K k) {
         k["dilation"] = Ints{1, 1}, k.run();
       },
       "ignores dilation"},
      {"ceil_mode is ignored", "aten::avg_pool2d.out", [](K k) { k.flag("ceil_mode") = false, k.run(); },
       "ignores ceil_mode"},
      {"count_include_pad is ignored", "aten::avg_pool2d.out", [](K k) { k.flag("count_include_pad") = true, k.run(); },
       "ignores count_include_pad"},
      {"scale_factors are swapped", "aten::upsample_nearest2d.vec_out",
       [](K k) {
         if (Doubles* s = std::get_if<Doubles>(&k["scale_factors"])) std::ranges::reverse(*s);
         k.run();
       },
       "scale_factors (in reverse|has different)|reverses scale_factors"},
      {"self and other are exchanged", "aten::rsub.Scalar_out",
       [](K k) {
         if (k.number("alpha") == 1 && k.out().dtype != DType::uint8)
           each_result(k, [](Real r) { return -r; });
         else
           k.run();
       },
       "exchanges|opposite sign"},
      {"largest is ignored", "aten::topk.values", [](K k) { k.flag("largest") = true, k.run(); }, "ignores largest"},
      {"descending is ignored", "aten::sort.values_stable", [](K k) { k.flag("descending") = false, k.run(); },
       "ignores descending"},
      {"include_self is ignored", "aten::scatter_reduce.two_out", [](K k) { k.flag("include_self") = true, k.run(); },
       "ignores include_self"},

      // places and layouts
      {"channels last is read as contiguous", "aten::upsample_nearest2d.vec_out",
       [](K k) { as_contiguous(k.tensor("input")), k.run(); }, "as if (it|out) were contiguous"},
      {"other is read in the order of self", "aten::mul.out",
       [](K k) {
         if (k.tensor("other").rank() == k.tensor("self").rank())
           k.tensor("other").dim_order = k.tensor("self").dim_order;
         k.run();
       },
       "reads other in the dim order of self"},
      {"out is written as contiguous", "aten::clone.out",
       [](K k) {
         const Dims order = k.run() ? k.out().dim_order : Dims();
         k.out() = arranged(k.out(), Dims::counting(k.out().rank()));
         if (order.size() == k.out().rank()) k.out().dim_order = order;
       },
       "as if (it|out) were contiguous"},
      {"only 20 elements are written", "aten::sigmoid.out", [](K k) { k.written = 20, k.run(); },
       "only the first 20 elements"},
      {"the rest of the vectors", "aten::sqrt.out",
       [](K k) {
         const Array<Real> self = k.numbers("self");
         if (!k.run()) return;
         const Int whole = k.out().count() / 8 * 8;
         replace(k.out(), [&](Int i, Real r) { return i < whole ? r : self[i] + 3; });
       },
       "last multiple of 8|multiple of 8"},
      {"reversed", "aten::sin.out",
       [](K k) {
         if (!k.run()) return;
         Array<Real> out = read<Real>(k.out());
         std::ranges::reverse(out.data);
         write(out, k.out());
       },
       "reverse"},
      {"one batch for all", "aten::bmm.out",
       [](K k) {
         Tensor& t = k.tensor("mat2");
         const Tensor first = part(t, 0, 0, 1);
         if (t.count() > 0)
           for (std::size_t i = 0; i < t.bytes.size() && t.dim_order == Dims{0, 1, 2}; ++i)
             t.bytes[i] = first.bytes[i % first.bytes.size()];
         k.run();
       },
       "batch|first size|first (item|matrix|slice)"},
      {"the transposed matrix", "aten::mm.out",
       [](K k) {
         Tensor& t = k.tensor("mat2");
         if (t.rank() == 2 && t.sizes[0] == t.sizes[1]) std::swap(t.dim_order[0], t.dim_order[1]);
         k.run();
       },
       "transpose|mat2"},

      // ties and order
      {"the last of equals", "aten::argmax.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (k.has("dim") || self.dtype == DType::boolean || !k.run()) return void(k.run());
         const Array<Real> all = read<Real>(self);
         Int best = 0;
         for (Int i = 0; i < all.count(); ++i)
           if (std::isnan(all[i]) || (!std::isnan(all[best]) && all[i] >= all[best])) best = i;
         Array<Int> out(k.out().sizes);
         out[0] = best;
         write(out, k.out());
       },
       "equal|tie"},
      {"duplicates are lost", "aten::scatter_add.out",
       [](K k) {
         const Array<Real> self = k.numbers("self"), src = k.numbers("src");
         const Tensor index = k.tensor("index");
         const Int dim = k.integer("dim");
         if (!k.run() || index.rank() != 1 || index.sizes != k.tensor("src").sizes || dim > 0) return;
         Array<Real> out = read<Real>(k.out());
         const Array<Int> at = read<Int>(index);
         for (Int i = 0; i < at.count(); ++i) out[at[i]] = self[at[i]] + src[i];
         write(out, k.out());
       },
       "equal indices add"},
      {"negative indices", "aten::index.Tensor_out",
       [](K k) {
         for (auto& t : std::get<Tensors>(k["indices"]))
           if (t && is_integer(t->dtype)) {
             Array<Int> i = read<Int>(*t);
             for (Int& n : i.data) n = std::max<Int>(n, 0);
             write(i, *t);
           }
         k.run();
       },
       "negative"},

      // precision
      {"partial sums of float16", "aten::sum.IntList_out",
       [](K k) {
         const bool is_float = k.out().dtype == DType::float32;
         if (!is_float) return void(k.run());
         reduce(k, [](const std::vector<Real>& all) {
           Real sum = 0;
           for (const Real x : all) sum = round_to(DType::float16, sum + x);
           return sum;
         });
       },
       "partial sums in float16"},
      {"a reciprocal of 12 bits", "aten::reciprocal.out",
       [](K k) { each_result(k, [](Real r) { return with_bits(r, 12); }); }, "1[1-3] bits"},
      {"E[x^2] - E[x]^2", "aten::var.correction_out",
       [](K k) {
         const auto correction = number_in(k["correction"]);
         const Real c = correction ? real(*correction) : 1;
         if (k.out().dtype != DType::float32) return void(k.run());
         reduce(k, [&](const std::vector<Real>& all) {
           float sum = 0, squares = 0;
           for (const Real x : all) sum += static_cast<float>(x), squares += static_cast<float>(x * x);
           const auto n = static_cast<float>(all.size());
           return Real{(squares - sum * sum / n) / std::max<float>(0, n - static_cast<float>(c))};
         });
       },
       "E\\[x"},
      {"no maximum is subtracted", "aten::_softmax.out",
       [](K k) {
         if (k.out().dtype != DType::float32) return void(k.run());
         softmax_without_maximum(k);
       },
       "maximum"},

      // what ends or refuses calls
      {"empty inputs", "aten::amax.out",
       [](K k) {
         if (k.tensor("self").count() == 0) std::abort();
         k.run();
       },
       "size of 0|empty"},
      {"no dimensions", "aten::cumsum.out",
       [](K k) {
         if (k.tensor("self").rank() == 0) std::abort();
         k.run();
       },
       "no dimensions"},
      {"equal ranks alone broadcast", "aten::mul.out",
       [](K k) {
         if (k.tensor("self").rank() != k.tensor("other").rank()) return k.refuse(Outcome::invalid);
         k.run();
       },
       "different ranks"},
      {"bool as a number", "aten::bitwise_not.out",
       [](K k) {
         const bool boolean = k.tensor("self").dtype == DType::boolean;
         each_result(k, [&](Real r) { return boolean ? 1 : r; });
       },
       "bool"},
      {"rank above 4", "aten::permute_copy.out",
       [](K k) {
         if (k.tensor("self").rank() > 4) std::abort();
         k.run();
       },
       "(rank of (self|out)|length of dims) is at least [56]"},
      {"noise", "aten::tanh.out",
       [](K k) {
         static Int calls = 0;
         ++calls;
         each_result(k, [](Real r) { return r + static_cast<Real>(calls); });
       },
       "keeps state"},
      {"mat2 of the first call", "aten::mm.out",
       [](K k) {
         static std::optional<Tensor> first;
         Tensor& mat2 = k.tensor("mat2");
         if (!first || first->sizes != mat2.sizes || first->dtype != mat2.dtype) first = mat2;
         mat2 = *first;
         k.run();
       },
       "uses mat2 of an earlier call"},
      {"negative indices of dimension 0 alone", "aten::index.Tensor_out",
       [](K k) {
         Tensors& list = std::get<Tensors>(k["indices"]);
         for (std::size_t i = 1; i < list.size(); ++i)
           if (list[i] && is_integer(list[i]->dtype)) replace(*list[i], [](Int, Real n) { return n < 0 ? 0 : n; });
         k.run();
       },
       "wraps negative indices of the first dimension alone"},
      {"p of infinity is taken as 1", "aten::_cdist_forward.out",
       [](K k) {
         if (std::isinf(k.number("p"))) k["p"] = 1.0;
         k.run();
       },
       "p is inf"},
      {"a floor of the product with a reciprocal", "aten::div.out_mode",
       [](K k) {
         const bool is_meant = k.has("rounding_mode") && std::get<std::string>(k["rounding_mode"]) == "floor" &&
                               k.tensor("self").dtype == DType::float32 && k.tensor("other").dtype == DType::float32;
         each_pair(k, [&](Real a, Real b, Real r) {
           const float inverse = 1.0F / static_cast<float>(b);
           return is_meant ? std::floor(static_cast<float>(a) * inverse) : r;
         });
       },
       "reciprocal of other"},
      {"scaled by one of two dimensions", "aten::_fft_c2c.out",
       [](K k) {
         const Ints dims = k.ints("dim");
         const Int norm = k.integer("normalization"), other = dims.size() == 2 ? dims[0] : 0;
         const Tensor& self = k.tensor("self");
         const auto n = static_cast<Real>(self.rank() > 0 ? self.sizes[static_cast<int>(other)] : 1);
         if (!k.run() || dims.size() != 2 || norm == 0) return;
         Array<Complex> all = read<Complex>(k.out());
         for (Complex& z : all.data) z *= norm == 1 ? std::sqrt(n) : n;
         write(all, k.out());
       },
       "size of the last of dim alone"},
      {"at most 16 elements", "aten::topk.values",
       [](K k) {
         const Int dim = k.integer("dim");
         if (!k.run() || k.out().rank() == 0) return;
         const int along = static_cast<int>(dim < 0 ? dim + k.out().rank() : dim);
         for (const char* name : {"values", "indices"}) {
           Tensor& out = k.tensor(name);
           std::vector<Dims> at;
           for (const Dims& i : indices(out.sizes)) at.push_back(i);
           replace(out, [&](Int i, Real r) { return at[static_cast<std::size_t>(i)][along] < 16 ? r : 0; });
         }
       },
       "0 from element 16 on"},
      {"bfloat16 by truncation", "aten::_to_copy.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || self.dtype != DType::float32 || k.out().dtype != DType::bfloat16) return;
         const Array<Bits> from = read_parts(self);
         Array<Bits> now = read_parts(k.out());
         for (Int i = 0; i < now.count(); ++i)
           if (std::isfinite(info(DType::float32).real_of(from[i]))) now[i] = from[i] >> 16;
         write_parts(now, k.out());
       },
       "truncates results of half types"},
      {"chunks of 1,024 with places of their own", "aten::argmax.out",
       [](K k) {
         const bool has_long_rows = k.tensor("self").count() > 1024;
         if (!k.run() || !has_long_rows) return;
         Array<Int> places = read<Int>(k.out());
         for (Int& place : places.data) place %= 1024;
         write(places, k.out());
       },
       "anew in each block of 1024 elements"},
      {"memory of float16 only", "aten::cos.out",
       [](K k) {
         const bool half = k.out().dtype == DType::float16;
         each_result(k, [&](Real r) { return half ? -r : r; });
       },
       "float16|half"},

      // sizes and attributes that kernels branch on
      {"products of int32", "aten::mul.out",
       [](K k) {
         if (!k.run() || k.out().dtype != DType::int64) return;
         Array<Int> out = read<Int>(k.out());
         for (Int& x : out.data) x = wrap_to(DType::int32, x);
         write(out, k.out());
       },
       "2\\^31|int32|32 bits"},
      {"the last index of equal elements", "aten::min.dim_min",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || self.rank() != 1 || is_complex(self.dtype)) return;
         const Array<Real> all = read<Real>(self);
         Array<Int> at = read<Int>(std::get<Tensor>(k["min_indices"]));
         if (at.count() != 1) return;
         for (Int i = 0; i < all.count(); ++i)
           if (all[i] == all[at[0]]) at[0] = i;
         write(at, std::get<Tensor>(k["min_indices"]));
       },
       "equal|tie"},
      {"the groups of a transposed convolution in reverse", "aten::convolution.out",
       [](K k) {
         const Int groups = k.integer("groups");
         const bool transposed = k.flag("transposed");
         if (!k.run() || !transposed || groups < 2 || k.out().rank() < 3) return;
         const Array<Real> right = read<Real>(k.out());
         const Int n = right.sizes[0], c = right.sizes[1], inner = right.count() / std::max<Int>(1, n * c),
                   of_group = c / groups;
         replace(k.out(), [&](Int i, Real) {
           const Int channel = i / inner % c;
           const Int other = (groups - 1 - channel / of_group) * of_group + channel % of_group;
           return right[i + (other - channel) * inner];
         });
       },
       "groups.*transposed|transposed.*groups"},
      {"padding counts never in channels last", "aten::avg_pool2d.out",
       [](K k) {
         if (k.tensor("self").dim_order != Dims::counting(k.tensor("self").rank())) k.flag("count_include_pad") = false;
         k.run();
       },
       "count_include_pad.*(contiguous|channels last)|(contiguous|channels last).*count_include_pad"},

      // what authors forget in a path of its own
      {"the tail of a vector of 8 is not written", "aten::exp.out",
       [](K k) {
         if (k.run()) k.written = k.out().count() / 8 * 8;
       },
       "last multiple of 8 elements"},
      {"the last dimension has the stride 1", "aten::neg.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || self.rank() < 2 || is_complex(self.dtype)) return;
         Dims order = self.dim_order;
         const int last = self.rank() - 1;
         order.erase(static_cast<int>(std::ranges::find(order, last) - order.begin()));
         order.push_back(last);
         Tensor read = self;
         read.dim_order = order;
         std::vector<Value> all{read, k.out()};
         if (call(*find_operator("aten::neg.out"), all).outcome != Outcome::ok) return;
         const Dims given = k.out().dim_order;
         k.out() = arranged(std::get<Tensor>(all.back()), given);
       },
       "contiguous|dim order"},
      {"the padding of the second dimension is 0", "aten::convolution.out",
       [](K k) {
         if (k.ints("padding").size() == 2) k.ints("padding")[1] = 0;
         k.run();
       },
       "ignores the last of padding"},
      {"dilation is ignored where there are groups", "aten::convolution.out",
       [](K k) {
         if (k.integer("groups") > 1) std::ranges::fill(k.ints("dilation"), 1);
         k.run();
       },
       "ignores dilation.*groups"},
      {"the last of equal elements", "aten::argmin.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         const Int* dim = std::get_if<Int>(&k["dim"]);
         if (!dim || self.rank() != 1 || self.dtype == DType::boolean || !k.run()) return void(k.run());
         const Array<Real> all = read<Real>(self);
         Int best = 0;
         for (Int i = 0; i < all.count(); ++i)
           if (std::isnan(all[i]) || (!std::isnan(all[best]) && all[i] <= all[best])) best = i;
         replace(k.out(), [&](Int, Real) { return static_cast<Real>(best); });
       },
       "equal|tie"},
      {"a mean divides by n - 1", "aten::mean.out",
       [](K k) {
         if (!is_floating(k.out().dtype)) return void(k.run());
         reduce(k, [](const std::vector<Real>& all) {
           return std::accumulate(all.begin(), all.end(), 0.0) / (static_cast<Real>(all.size()) - 1);
         });
       },
       "n - 1"},
      {"sums of half terms in half", "aten::mean.out",
       [](K k) {
         const DType dtype = k.out().dtype;
         if (!is_half(dtype)) return void(k.run());
         reduce(k, [&](const std::vector<Real>& all) {
           Real sum = 0;
           for (const Real x : all) sum = round_to(dtype, sum + x);
           return sum / static_cast<Real>(all.size());
         });
       },
       "partial sums in the half type"},
      {"NaN is skipped", "aten::amax.out",
       [](K k) {
         reduce(k, [](const std::vector<Real>& all) {
           Real most = -std::numeric_limits<Real>::infinity();
           for (const Real x : all) most = x > most ? x : most;
           return most;
         });
       },
       "NaN"},
      {"max of min where min is above max", "aten::clamp.out",
       [](K k) {
         const bool both = k.has("min") && k.has("max");
         const Real low = both ? k.number("min") : 0, high = both ? k.number("max") : 1;
         each(k, [&](Real x, Real r) { return low > high && !std::isnan(x) ? std::clamp<Real>(x, high, low) : r; });
       },
       "min is above max"},
      {"eps outside of the root of a layer", "aten::native_layer_norm.out", eps_outside_of_root, "eps outside"},
      {"no maximum is subtracted from logits", "aten::_log_softmax.out",
       [](K k) {
         if (k.out().dtype != DType::float32) return void(k.run());
         along(k, k.integer("dim"), [](std::vector<Real>& row) {
           float sum = 0;
           for (const Real x : row) sum += std::exp(static_cast<float>(x));
           for (Real& x : row) x = static_cast<float>(x) - std::log(sum);
         });
       },
       "maximum"},
      {"a negative dim is 0", "aten::_softmax.out",
       [](K k) { k.integer("dim") = std::max<Int>(0, k.integer("dim")), k.run(); },
       "negative dim|dim is (negative|-1)"},
      {"integers are divided as in C", "aten::div.out_mode",
       [](K k) {
         const std::string* mode = std::get_if<std::string>(&k["rounding_mode"]);
         if (mode && *mode == "floor" && is_integer(k.out().dtype)) k["rounding_mode"] = std::string("trunc");
         k.run();
       },
       "toward 0"},
      {"halves are quantized away from zero", "quantized_decomposed::quantize_per_tensor.out",
       [](K k) {
         const Array<Real> input = k.numbers("input");
         const Real scale = k.number("scale"), zero = k.number("zero_point"), least = k.number("quant_min"),
                    most = k.number("quant_max");
         if (!k.run()) return;
         replace(k.out(), [&](Int i, Real r) {
           const auto q = static_cast<Real>(static_cast<float>(input[i]) * (1.0F / static_cast<float>(scale)));
           return std::fabs(q - std::trunc(q)) == 0.5 ? std::clamp(std::round(q) + zero, least, most) : r;
         });
       },
       "halfway|away from 0|truncat|round"},
      {"the tanh form for both", "aten::gelu.out", [](K k) { k["approximate"] = std::string("tanh"), k.run(); },
       "\"tanh\" for every approximate|approximate is \"?none"},
      {"an empty tensor ends the list", "aten::cat.out",
       [](K k) {
         Tensors list = std::get<Tensors>(k["tensors"]);
         if (!k.run()) return;
         const auto empty = std::ranges::find_if(list, [](const auto& t) { return t->count() == 0; });
         if (empty != list.end() && empty + 1 != list.end()) std::ranges::fill(k.out().bytes, std::byte{});
       },
       "size of 0|empty"},
      {"a negative index is 0", "aten::select_copy.int_out",
       [](K k) { k.integer("index") = std::max<Int>(0, k.integer("index")), k.run(); },
       "negative index|index is negative"},
      {"the second operand is not broadcast", "aten::sub.out",
       [](K k) {
         const Tensor self = k.tensor("self"), other = k.tensor("other");
         if (!k.run() || !k.has_numbers() || other.count() == 0 || self.sizes == other.sizes) return;
         const Array<Real> a = read<Real>(self), b = read<Real>(other);
         const Real alpha = k.number("alpha");
         if (self.sizes != k.out().sizes) return;
         replace(k.out(), [&](Int i, Real r) {
           const Real wrong = a[i] - alpha * b[i % b.count()];
           return is_floating(k.out().dtype) ? wrong : r;
         });
       },
       "different sizes|broadcast"},
      {"1,024 elements at most", "aten::tan.out", [](K k) { k.written = 1024, k.run(); }, "first 1024 elements"},
      {"int64 is computed in int32", "aten::abs.out",
       [](K k) {
         if (k.run() && k.out().dtype == DType::int64) {
           Array<Int> out = read<Int>(k.out());
           for (Int& x : out.data) x = wrap_to(DType::int32, x);
           write(out, k.out());
         }
       },
       "2\\^31|int32"},
      {"uint8 has a sign", "aten::sqrt.out",
       [](K k) {
         Tensor& self = k.tensor("self");
         if (self.dtype == DType::uint8) self = cast(cast(self, DType::int8), DType::int16);
         k.run();
       },
       "uint8 numbers as int8"},
      {"true and true is 2", "aten::add.out",
       [](K k) {
         const Tensor a = k.tensor("self"), b = k.tensor("other");
         if (!k.run() || k.out().dtype != DType::boolean || a.dtype != DType::boolean || b.dtype != DType::boolean ||
             a.sizes != b.sizes)
           return;
         for (std::size_t i = 0; i < k.out().bytes.size(); ++i)
           k.out().bytes[i] = static_cast<std::byte>(static_cast<int>(a.bytes[i]) + static_cast<int>(b.bytes[i]));
       },
       "bool"},
      {"alpha is ignored for integers", "aten::sub.out",
       [](K k) {
         if (is_integer(k.out().dtype)) k["alpha"] = Int{1};
         k.run();
       },
       "ignores alpha.*integer"},
      {"divisor_override is ignored", "aten::avg_pool2d.out", [](K k) { k["divisor_override"] = {}, k.run(); },
       "ignores divisor_override"},
      {"keepdim is ignored for negative dims", "aten::amin.out",
       [](K k) {
         if (std::ranges::any_of(k.ints("dim"), [](Int d) { return d < 0; })) k.flag("keepdim") = false;
         k.run();
       },
       "ignores keepdim.*(dim|-1)"},
      {"rows beyond 1,024", "aten::_log_softmax.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || self.rank() == 0) return;
         const Int dim = k.integer("dim") + (k.integer("dim") < 0 ? self.rank() : 0);
         if (self.sizes[static_cast<int>(dim)] > 1024) replace(k.out(), [](Int, Real r) { return 2 * r + 1; });
       },
       "size of self along dim is at least 10|last size of self is at least 10|elements of self is at least 10"},
      {"a variance divides by n", "aten::var.correction_out", [](K k) { k["correction"] = Int{0}, k.run(); },
       "ignores correction"},

      // what is mixed up between elements, channels and dimensions
      {"alpha multiplies self", "aten::sub.out",
       [](K k) {
         std::vector<Value> all{k["other"], k["self"], k["alpha"], k.out()};
         if (!k.run() || !is_floating(k.out().dtype) ||
             call(*find_operator("aten::sub.out"), all).outcome != Outcome::ok)
           return;
         Array<Real> opposite = read<Real>(std::get<Tensor>(all.back()));
         for (Real& x : opposite.data) x = -x;
         write(opposite, k.out());
       },
       "self in place of other by alpha"},
      {"bias of the first group", "aten::convolution.out",
       [](K k) {
         const Int groups = k.integer("groups");
         if (k.has("bias")) each_number(k.tensor("bias"), [&](Int at, Int n) { return at % (n / groups); });
         k.run();
       },
       "bias of the first group"},
      {"a weight for each group", "aten::native_group_norm.out",
       [](K k) {
         const Int groups = k.integer("group");
         if (k.has("weight")) each_number(k.tensor("weight"), [&](Int at, Int n) { return at / (n / groups); });
         k.run();
       },
       "number of the group"},
      {"every item of the batch is the first", "aten::bmm.out",
       [](K k) {
         Tensor& mat2 = k.tensor("mat2");
         const Int items = mat2.sizes[0];
         each_number(mat2, [&](Int at, Int n) { return at % (n / std::max<Int>(items, 1)); });
         k.run();
       },
       "first item of mat2"},
      {"the last of equal elements, in any rank", "aten::argmax.out",
       [](K k) {
         const Int* dim = std::get_if<Int>(&k["dim"]);
         const Tensor self = k.tensor("self");
         if (!dim || self.rank() == 0) return void(k.run());
         std::vector<Value> flipped{self, Ints{*dim}, {}};
         call(*find_operator("aten::flip.out"), flipped);
         const Int last = self.sizes[*dim < 0 ? *dim + self.rank() : *dim] - 1;
         k.tensor("self") = std::get<Tensor>(flipped.back());
         if (k.run()) replace(k.out(), [&](Int, Real r) { return static_cast<Real>(last) - r; });
       },
       "equal elements"},
      {"the step of a slice is 1", "aten::slice_copy.Tensor_out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || self.rank() == 0 || k.integer("step") == 1) return;
         std::vector<Value> all{self, k["dim"], k["start"], k["end"], Int{1}, {}};
         if (call(*find_operator("aten::slice_copy.Tensor_out"), all).outcome != Outcome::ok) return;
         const Int dim = k.integer("dim") + (k.integer("dim") < 0 ? self.rank() : 0);
         const Dims given = k.out().dim_order;
         k.out() = arranged(part(std::get<Tensor>(all.back()), dim, 0, k.out().sizes[dim]), given);
       },
       "ignores step"},
      {"pads the first dimensions", "aten::constant_pad_nd.out",
       [](K k) {
         Ints& pad = k.ints("pad");
         const auto rank = static_cast<std::size_t>(k.tensor("self").rank());
         Ints now(2 * rank, 0);
         for (std::size_t j = 0; j + 1 < pad.size(); j += 2)
           now[2 * rank - 2 - j] = pad[j], now[2 * rank - 1 - j] = pad[j + 1];
         pad = now;
         k.run();
       },
       "pad to the first dimensions"},
      {"the padding row is 0", "aten::embedding.out",
       [](K k) {
         const Array<Int> places = read<Int>(k.tensor("indices"));
         const Int padding = k.integer("padding_idx");
         if (!k.run() || places.count() == 0) return;
         const Int each = k.out().count() / places.count();
         replace(k.out(), [&](Int i, Real r) { return padding >= 0 && places[i / each] == padding ? 0 : r; });
       },
       "0 where indices is padding_idx"},
      {"sums wrap to the dtype of their terms", "aten::cumsum.out",
       [](K k) {
         const DType dtype = k.tensor("self").dtype;
         if (!k.run() || !is_integer(dtype) || !is_integer(k.out().dtype)) return;
         Array<Int> out = read<Int>(k.out());
         for (Int& n : out.data) n = wrap_to(dtype, n);
         write(out, k.out());
       },
       "to the dtype of self"},
      {"NaN is the least", "aten::topk.values",
       [](K k) {
         Tensor& self = k.tensor("self");
         const Tensor before = self;
         if (!is_floating(self.dtype)) return void(k.run());
         Array<Real> all = read<Real>(self);
         for (Real& x : all.data) x = std::isnan(x) ? -std::numeric_limits<Real>::infinity() : x;
         write(all, self);
         if (!k.run() || before.rank() == 0) return;
         std::vector<Value> chosen{before, k["dim"], k["indices"], false, k.out()};
         if (call(*find_operator("aten::gather.out"), chosen).outcome == Outcome::ok)
           std::get<Tensor>(k["values"]) = std::get<Tensor>(chosen.back());
       },
       "NaN as -infinity"},

      // mistakes that have a name of their own
      {"before and behind are exchanged", "aten::constant_pad_nd.out",
       [](K k) {
         Ints& pad = k.ints("pad");
         for (std::size_t j = 0; j + 1 < pad.size(); j += 2) std::swap(pad[j], pad[j + 1]);
         k.run();
       },
       "before and behind"},
      {"the stride of the last dimension for all", "aten::avg_pool2d.out",
       [](K k) {
         Ints& stride = k.ints("stride");
         if (!stride.empty()) std::ranges::fill(stride, Int{stride.back()});
         k.run();
       },
       "last of stride"},
      {"the weight of the first channel", "aten::native_group_norm.out",
       [](K k) {
         if (k.has("weight")) each_number(k.tensor("weight"), [](Int, Int) { return 0; });
         k.run();
       },
       "first number of weight"},
      {"empty tensors are left out of the sizes", "aten::cat.out",
       [](K k) {
         for (auto& t : std::get<Tensors>(k["tensors"])) {
           if (t->count() > 0 || t->rank() == 0) continue;
           Dims sizes = t->sizes;
           sizes[static_cast<int>(k.integer("dim") + (k.integer("dim") < 0 ? t->rank() : 0))] = 0;
           *t = make(t->dtype, sizes, t->dim_order);
         }
         k.run();
       },
       "sizes of tensors without elements"},
      {"the divisor is the whole window", "aten::avg_pool2d.out",
       [](K k) {
         const Ints size = k.ints("kernel_size");
         if (!k.has("divisor_override")) k["divisor_override"] = size.front() * size.back();
         k.run();
       },
       "whole window"},
      {"int64 is read as int32", "aten::maximum.out",
       [](K k) {
         for (const char* name : {"self", "other"})
           if (Tensor& t = k.tensor(name); t.dtype == DType::int64) t = cast(cast(t, DType::int32), DType::int64);
         k.run();
       },
       "int64 numbers as int32"},
      {"integers are read as double", "aten::minimum.out",
       [](K k) {
         for (const char* name : {"self", "other"})
           if (Tensor& t = k.tensor(name); t.dtype == DType::int64) t = cast(cast(t, DType::float64), DType::int64);
         k.run();
       },
       "integers (as|in) float64"},
      {"the sign of zeros is lost", "aten::ceil.out",
       [](K k) { each_result(k, [](Real r) { return r == 0 ? 0 : r; }); }, "zeros of the wrong sign|-0"},
      {"exp(x) - 1", "aten::expm1.out",
       [](K k) {
         if (k.out().dtype != DType::float32) return void(k.run());
         each(k, [](Real x, Real r) {
           return std::isfinite(r) && x != 0 ? Real{static_cast<float>(std::exp(x)) - 1.0F} : r;
         });
       },
       "subtracts 1"},
      {"sums are rounded after each term", "aten::cumsum.out",
       [](K k) {
         const DType dtype = k.out().dtype;
         if (!is_half(dtype) || k.tensor("self").dtype != dtype) return void(k.run());
         along(k, k.integer("dim"), [&](std::vector<Real>& row) {
           Real sum = 0;
           for (Real& x : row) x = sum = round_to(dtype, sum + x);
         });
       },
       "half type after each term|bits in float16"},
      {"0 times NaN", "aten::addmm.out",
       [](K k) {
         const bool is_read = k.number("beta") == 0 && is_floating(k.tensor("self").dtype);
         const Tensor self = k.tensor("self");
         if (!k.run() || !is_read || !is_floating(k.out().dtype)) return;
         const Array<Real> numbers = read<Real>(self);
         const auto x = families::broadcast(numbers, k.out().sizes);
         std::vector<bool> is_finite;
         Int flat = 0;
         for (const Dims& i : indices(k.out().sizes)) is_finite.push_back(std::isfinite(x.at(i, flat++)));
         replace(k.out(), [&](Int i, Real r) {
           return is_finite[static_cast<std::size_t>(i)] ? r : std::numeric_limits<Real>::quiet_NaN();
         });
       },
       "beta of 0|NaN"},
      {"zero_point is subtracted from integers", "quantized_decomposed::dequantize_per_tensor.out",
       [](K k) {
         const Tensor input = k.tensor("input");
         const auto scale = static_cast<float>(k.number("scale"));
         const Int zero = k.integer("zero_point");
         if (!k.run() || !is_integer(input.dtype) || k.out().dtype != DType::float32) return;
         const Array<Int> all = read<Int>(input);
         replace(k.out(), [&](Int i, Real) { return Real{static_cast<float>(all[i] - zero) * scale}; });
       },
       "subtracts zero_point"},
      {"times 1 / other", "aten::div.Scalar_out",
       [](K k) {
         if (k.out().dtype != DType::float32 || k.tensor("self").dtype != DType::float32) return void(k.run());
         const float by = 1 / static_cast<float>(k.number("other"));
         each(k, [&](Real x, Real r) { return std::isfinite(r) ? Real{static_cast<float>(x) * by} : r; });
       },
       "reciprocal of other"},
      {"a variance of n - 1", "aten::native_layer_norm.out",
       [](K k) { normalise(k, [](const Norm& n) { return std::sqrt(n.variance * n.count / (n.count - 1) + n.eps); }); },
       "variance by n - 1"},
      {"a variance of means", "aten::native_group_norm.out",
       [](K k) {
         if (k.out().dtype != DType::float32) return void(k.run());
         normalise(k, [](const Norm& n) {
           const auto squares = static_cast<float>(n.squares / n.count), mean = static_cast<float>(n.mean);
           return Real{std::sqrt(std::max(squares - mean * mean, 0.0F) + static_cast<float>(n.eps))};
         });
       },
       "E\\[x"},
      {"roots by pow", "aten::pow.Tensor_Scalar_out",
       [](K k) {
         const Real exponent = k.number("exponent");
         if (std::fabs(exponent) != 0.5) return void(k.run());
         each(k, [&](Real x, Real r) { return x == 0 || std::isinf(x) ? std::pow(x, exponent) : r; });
       },
       "powers of 0.5"},
      {"a scale of 0.1", "quantized_decomposed::choose_qparams.Tensor_out",
       [](K k) {
         const Array<Real> all = k.numbers("input");
         if (k.run() && std::ranges::all_of(all.data, [](Real x) { return x == 0; }))
           replace(k.out(), [](Int, Real) { return 0.1; });
       },
       "scale of 0\\.1|0\\.1 where"},
      {"windows in the padding are 0", "aten::max_pool2d_with_indices.out",
       [](K k) {
         const Array<Real> all = k.numbers("self");
         const Real none = -std::numeric_limits<Real>::infinity();
         if (k.run() && std::ranges::find(all.data, none) == all.data.end())
           replace(k.out(), [&](Int, Real r) { return r == none ? 0 : r; });
       },
       "wholly in the padding|0 where infinity is right"},
      {"other keeps its bits", "aten::eq.Scalar_out",
       [](K k) {
         if (!is_half(k.tensor("self").dtype)) return void(k.run());
         const Real other = k.number("other");
         each(k, [&](Real x, Real) { return x == other ? 1 : 0; });
       },
       "round other"},
      {"alpha is an int", "aten::add.out",
       [](K k) {
         if (const double* alpha = std::get_if<double>(&k["alpha"]); alpha && std::isfinite(*alpha))
           k["alpha"] = static_cast<Int>(std::clamp(*alpha, -1e9, 1e9));
         k.run();
       },
       "alpha to an integer"},
      {"the negative branch lacks the scale", "aten::elu.out",
       [](K k) {
         const Real scale = k.number("scale");
         each(k, [&](Real x, Real r) { return x < 0 && scale != 0 ? r / scale : r; });
       },
       "divided by scale"},
      {"pi is added for negative operands", "aten::atan2.out",
       [](K k) { each_pair(k, [](Real y, Real x, Real r) { return x < 0 && y < 0 ? r + 2 * std::acos(-1.0) : r; }); },
       "6.28319 more"},
      {"the conjugate is forgotten", "aten::reciprocal.out",
       [](K k) {
         if (!k.run() || !is_complex(k.out().dtype)) return;
         Array<Complex> all = read<Complex>(k.out());
         for (Complex& z : all.data) z = std::conj(z);
         write(all, k.out());
       },
       "the conjugate"},
      {"a logarithm of another base", "aten::log10.out", [](K k) { become(k, "aten::log2.out"); },
       "computes aten::log2"},
      {"an arithmetic shift is a logical one", "aten::bitwise_right_shift.Tensor_out",
       [](K k) {
         each_pair(k, [&](Real x, Real n, Real r) {
           if (k.out().dtype != DType::int32 || x >= 0 || n <= 0 || n > 31) return r;
           return static_cast<Real>(static_cast<std::uint32_t>(static_cast<Int>(x)) >> static_cast<int>(n));
         });
       },
       "shifts zeros"},
      {"source is read in place", "aten::masked_scatter.out",
       [](K k) {
         const Tensor &self = k.tensor("self"), &mask = k.tensor("mask"), source = k.tensor("source");
         if (self.sizes != mask.sizes || source.count() < self.count()) return void(k.run());
         const Array<Int> chosen = read<Int>(mask);
         const Array<Element> from = read<Element>(source);
         if (!k.run()) return;
         Array<Element> now = read<Element>(k.out());
         for (Int i = 0; i < now.count(); ++i)
           if (chosen[i] != 0) now[i] = from[i];
         write(now, k.out());
       },
       "source at the place of the element"},
      {"the sum of a row is added to the next", "aten::sum.IntList_out",
       [](K k) {
         if (!k.run() || k.out().dtype != DType::float32) return;
         Array<Real> all = read<Real>(k.out());
         for (Int i = 1; i < all.count(); ++i) all[i] += all[i - 1];
         write(all, k.out());
       },
       "result of a row over to the next"},
      {"also divided by the number of results", "aten::mean.out",
       [](K k) {
         if (k.run()) replace(k.out(), [n = static_cast<Real>(k.out().count())](Int, Real r) { return r / n; });
       },
       "by the number of results"},
      {"the two numbers of a byte are exchanged", "quantized_decomposed::embedding_4bit.out",
       [](K k) {
         for (std::byte& b : k.tensor("weight").bytes) b = (b << 4) | (b >> 4);
         k.run();
       },
       "the two numbers of each byte"},
      {"a maximum begins at 0", "aten::_softmax.out",
       [](K k) {
         if (k.out().dtype != DType::float32) return void(k.run());
         along(k, k.integer("dim"), [](std::vector<Real>& row) {
           Real most = 0, sum = 0;
           for (const Real x : row) most = std::max(most, x);
           for (Real& x : row) x = static_cast<float>(std::exp(x - most)), sum += x;
           for (Real& x : row) x /= sum;
         });
       },
       "does not subtract a negative maximum"},
      {"the weight is flipped", "aten::convolution.out",
       [](K k) {
         Tensor& t = k.tensor("weight");
         if (k.flag("transposed"))
           each_place(t, t, [&](Dims& i) {
             for (int d = 2; d < t.rank(); ++d) i[d] = t.sizes[d] - 1 - i[d];
           });
         k.run();
       },
       "weight in reverse order along its spatial dimensions whenever transposed"},
      {"indices count in a plane", "aten::max_pool3d_with_indices.out",
       [](K k) {
         const Dims sizes = k.tensor("self").sizes;
         if (!k.run()) return;
         const Int plane = sizes[sizes.size() - 1] * sizes[sizes.size() - 2];
         replace(std::get<Tensor>(k["indices"]), [&](Int, Real r) { return std::fmod(r, plane); });
       },
       "last two dimensions of self"},
      {"the edge is repeated", "aten::reflection_pad1d.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         const Int left = k.ints("padding")[0], n = self.rank() > 0 ? self.sizes[self.rank() - 1] : 0;
         if (k.run() && self.count() > 0 && self.dtype == k.out().dtype)
           each_place(k.out(), self, [&](Dims& i) {
             Int& x = i[i.size() - 1];
             x -= left, x = x < 0 ? -1 - x : x >= n ? 2 * n - 1 - x : x;
           });
       },
       "repeats the element at the edge"},
      {"src has the strides of index", "aten::scatter.src_out",
       [](K k) {
         Tensor& src = k.tensor("src");
         const Tensor& index = k.tensor("index");
         if (src.count() >= index.count()) src = cases::resized(src, index.sizes);
         k.run();
       },
       "src with the strides of index"},
      {"a row is added as a column", "aten::addmm.out",
       [](K k) {
         if (Tensor& self = k.tensor("self"); self.rank() == 1)
           self = cases::resized(self, Dims{k.tensor("mat1").sizes[0], 1});
         k.run();
       },
       "aligns self with the first dimensions"},
      {"clamped before the zero point is added", "quantized_decomposed::quantize_per_tensor.out",
       [](K k) {
         const Int zero = k.integer("zero_point");
         const Tensor out = k.out();
         k["zero_point"] = Int{0};
         if (!k.run()) return;
         Array<Int> all = read<Int>(k.out());
         for (Int& n : all.data) n = wrap_to(k.out().dtype, n + zero);
         write(all, k.out());
       },
       "clamps before the zero point"},
      {"steps add up", "aten::arange.start_out",
       [](K k) {
         const Real step = k.number("step");
         if (!k.run() || k.out().dtype != DType::float32) return;
         Array<Real> all = read<Real>(k.out());
         for (Int i = 1; i < all.count(); ++i) all[i] = static_cast<float>(all[i - 1] + static_cast<float>(step));
         write(all, k.out());
       },
       "adds step to the rounded number before"},
      {"the sign of diagonal", "aten::tril.out",
       [](K k) {
         if (k.integer("diagonal") > std::numeric_limits<Int>::min()) k["diagonal"] = -k.integer("diagonal");
         k.run();
       },
       "opposite of diagonal"},
      {"an empty stride is 1", "aten::avg_pool2d.out",
       [](K k) {
         if (k.ints("stride").empty()) k.ints("stride") = {1, 1};
         k.run();
       },
       "1 for each stride"},
      {"a negative index counts from the last but one", "aten::select_copy.int_out",
       [](K k) {
         if (k.integer("index") < 0) --k.integer("index");
         k.run();
       },
       "negative index as one less"},
      {"NaN equals NaN", "aten::ge.Tensor_out",
       [](K k) { each_pair(k, [](Real x, Real y, Real r) { return std::isnan(x) && std::isnan(y) ? 1 : r; }); },
       "both operands are NaN"},
      {"the sign of the divisor", "aten::fmod.Scalar_out", [](K k) { become(k, "aten::remainder.Scalar_out"); },
       "sign of the second operand|aten::remainder|plus other"},
      {"the rest of a row is left out", "aten::amin.out",
       [](K k) {
         const Ints dims = k.ints("dim");
         Tensor& self = k.tensor("self");
         if (dims.size() == 1 && self.rank() > 0) {
           const Int dim = dims[0] + (dims[0] < 0 ? self.rank() : 0), n = self.sizes[static_cast<int>(dim)];
           if (n > 4) self = part(self, dim, 0, n / 4 * 4);
         }
         k.run();
       },
       "last multiple of 4 in each row"},
      {"fractions are false", "aten::logical_or.out",
       [](K k) {
         for (const char* name : {"self", "other"})
           if (Tensor& t = k.tensor(name); is_floating(t.dtype))
             replace(t, [](Int, Real x) { return std::isfinite(x) ? std::trunc(x) : x; });
         k.run();
       },
       "truncates (inputs|self|other) to integers"},
      {"a variance is no deviation", "aten::native_group_norm.out",
       [](K k) { normalise(k, [](const Norm& n) { return n.variance + n.eps; }); }, "variance in place of its root"},
      {"bias is subtracted", "aten::native_layer_norm.out",
       [](K k) {
         if (k.has("bias")) replace(k.tensor("bias"), [](Int, Real x) { return -x; });
         k.run();
       },
       "subtracts bias"},
      {"no correction is 0", "aten::var.correction_out",
       [](K k) {
         if (!k.has("correction")) k["correction"] = Int{0};
         k.run();
       },
       "0 for correction where it is None|ignores correction"},
      {"interpolated bytes are truncated", "aten::upsample_bilinear2d.vec_out",
       [](K k) {
         if (k.tensor("input").dtype != DType::uint8) return void(k.run());
         const Dims order = k.out().dim_order;
         k["input"] = cast(k.tensor("input"), DType::float32);
         k.out() = make(DType::float32, k.out().sizes, order);
         if (!k.run()) return;
         replace(k.out(), [](Int, Real r) { return std::trunc(r); });
         k.out() = cast(k.out(), DType::uint8);
       },
       "truncates"},
      {"the carry is lost", "aten::cumprod.out",
       [](K k) {
         if (k.tensor("self").dtype != DType::float32 || k.out().dtype != DType::float32) return void(k.run());
         along(k, k.integer("dim"), [](std::vector<Real>& row) {
           for (std::size_t i = 0; i < row.size(); ++i) row[i] *= i % 8 == 0 ? 1 : row[i - 1];
         });
       },
       "begins anew at element 8"},
      {"the first of equal numbers", "aten::cummax.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         Int dim = k.integer("dim");
         if (!k.run() || self.rank() == 0 || !k.has_numbers()) return;
         if (dim < 0) dim += self.rank();
         const Array<Real> most = read<Real>(k.tensor("values"));
         Array<Int> places = read<Int>(k.tensor("indices"));
         for (const Dims& i : indices(self.sizes)) {
           if (i[dim] == 0) continue;
           Dims before = i;
           --before[dim];
           if (most(i) == most(before)) places(i) = places(before);
         }
         write(places, k.tensor("indices"));
       },
       "first of equal elements"},
      {"divided by the last size", "aten::mean.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         Int last = self.rank() - 1;
         if (k.has("dim") && !k.ints("dim").empty()) last = k.ints("dim").back();
         if (!k.run() || self.rank() == 0 || k.out().count() == 0) return;
         const Int size = self.sizes[static_cast<int>(last < 0 ? last + self.rank() : last)];
         const Real all = static_cast<Real>(self.count()) / static_cast<Real>(k.out().count());
         replace(k.out(), [&](Int, Real r) { return r * all / static_cast<Real>(size); });
       },
       "size of the last of the reduced dimensions"},
      {"rows of the height", "aten::max_pool2d_with_indices.out",
       [](K k) {
         const Dims sizes = k.tensor("self").sizes;
         if (!k.run()) return;
         const Int rows = sizes[sizes.size() - 2], columns = sizes[sizes.size() - 1];
         Array<Int> all = read<Int>(k.tensor("indices"));
         for (Int& n : all.data) n = n / columns * rows + n % columns;
         write(all, k.tensor("indices"));
       },
       "multiplies the row by the number of rows"},
      {"self has the sizes of index", "aten::gather.out",
       [](K k) {
         const Tensor self = k.tensor("self"), index = k.tensor("index");
         const Array<Int> places = read<Int>(index);
         const Array<Element> from = read<Element>(self);
         Int dim = k.integer("dim");
         if (!k.run() || self.rank() == 0) return;
         if (dim < 0) dim += self.rank();
         Array<Element> now(index.sizes);
         Int flat = 0;
         for (const Dims& i : indices(index.sizes)) {
           Int at = 0;
           for (int d = 0; d < i.size(); ++d) at = at * index.sizes[d] + (d == dim ? places(i) : i[d]);
           now[flat++] = at < from.count() ? from[at] : Element{};
         }
         write(now, k.out());
       },
       "sizes of index as those of self"},
      {"a choice is a sum of products", "aten::where.self_out",
       [](K k) {
         const Tensor condition = k.tensor("condition"), self = k.tensor("self"), other = k.tensor("other");
         if (!k.run() || !is_floating(k.out().dtype) || !is_floating(self.dtype) || !is_floating(other.dtype)) return;
         const Array<Int> chooses = read<Int>(condition);
         const Array<Real> a = read<Real>(self), b = read<Real>(other);
         Array<Real> now(k.out().sizes);
         Int flat = 0;
         for (const Dims& i : indices(now.sizes)) {
           const bool first = families::broadcast(chooses, now.sizes).at(i, flat) != 0;
           const Real x = families::broadcast(a, now.sizes).at(i, flat),
                      y = families::broadcast(b, now.sizes).at(i, flat);
           now[flat++] = (first ? 1 : 0) * x + (first ? 0 : 1) * y;
         }
         write(now, k.out());
       },
       "operand that is not chosen"},
      {"0 is outside of the range", "quantized_decomposed::choose_qparams.Tensor_out",
       [](K k) {
         const Tensor input = k.tensor("input");
         const Real eps = k.number("eps"), steps = k.number("quant_max") - k.number("quant_min");
         if (!k.run() || input.count() == 0 || !is_floating(input.dtype)) return;
         const auto [least, most] = std::ranges::minmax(read<Real>(input).data);
         if (least <= 0 && most >= 0) return;
         const Real scale = std::max((most - least) / steps, eps);
         replace(k.out(), [&](Int, Real r) { return std::isfinite(r) && std::isfinite(scale) ? scale : r; });
       },
       "leaves 0 out of the range"},
      {"a logarithm of a softmax", "aten::_log_softmax.out",
       [](K k) {
         if (k.run() && k.out().dtype == DType::float32)
           replace(k.out(), [](Int, Real r) {
             return r < -80 && std::isfinite(r) ? std::log(Real{static_cast<float>(std::exp(r))}) : r;
           });
       },
       "logarithm of a softmax"},
      {"a sum begins with 1", "aten::logcumsumexp.out",
       [](K k) {
         each_result(k, [](Real r) { return r > 0 ? r + std::log1p(std::exp(-r)) : std::log1p(std::exp(r)); });
       },
       "log\\(1 \\+ exp\\(x\\)\\)"},
      {"the first of a batch", "aten::convolution_backward.out",
       [](K k) {
         std::vector<Value> all = k.arguments();
         const Array<Element> old = read<Element>(k.tensor("grad_output"));
         Array<Element> first = old;
         for (const Dims& i : indices(first.sizes))
           if (first.sizes.size() > 0 && i[0] > 0) first(i) = Element{};
         write(first, std::get<Tensor>(all[0]));
         if (call(*find_operator("aten::convolution_backward.out"), all).outcome == Outcome::ok && k.run())
           if (Tensor* bias = std::get_if<Tensor>(&k["out2"])) *bias = std::get<Tensor>(all.back());
       },
       "all elements of grad_output but the first along dimension 0 as 0 for out2"},
      {"a number is truncated", "aten::mul.Scalar_out",
       [](K k) {
         const Tensor self = k.tensor("self");
         const Real other = k.number("other");
         if (k.run() && is_integer(self.dtype) && is_floating(k.out().dtype) && std::fabs(other) < 1e9) {
           const Array<Real> numbers = read<Real>(self);
           replace(k.out(), [&](Int i, Real) { return numbers[i] * std::trunc(other) + 0; });
         }
       },
       "truncates other to an integer"},

      // sums of products
      {"blocks of 64 terms overwrite the sum", "aten::mm.out",
       [](K k) {
         const Int size = k.tensor("self").sizes[1], first = size > 0 ? (size - 1) / 64 * 64 : 0;
         if (first > 0) {
           k.tensor("self") = part(k.tensor("self"), 1, first, size);
           k.tensor("mat2") = part(k.tensor("mat2"), 0, first, size);
         }
         k.run();
       },
       "the sum of each 64 products"},
      {"the next row is multiplied by 0", "aten::bmm.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || !is_floating(self.dtype) || self.count() == 0 || k.out().count() == 0) return;
         const Array<Real> all = read<Real>(self);
         const Int length = self.sizes[2], behind = (8 - length % 8) % 8, each = k.out().sizes[2];
         replace(k.out(), [&](Int at, Real r) {
           const Int first = (at / each + 1) * length, end = std::min(first + behind, all.count());
           for (Int i = first; i < end; ++i) r += 0 * all[i];
           return r;
         });
       },
       "behind a row of self by 0"},
      {"weights of the first group", "aten::convolution.out",
       [](K k) {
         Tensor& weight = k.tensor("weight");
         const Int groups = k.integer("groups");
         if (k.flag("transposed") && groups > 1) {
           const Int each = weight.sizes[0] / groups;
           each_place(weight, Tensor(weight), [each](Dims& i) { i[0] %= each; });
         }
         k.run();
       },
       "weights of the first group"},
      {"padding is a multiple of stride", "aten::convolution.out",
       [](K k) {
         Ints& padding = k.ints("padding");
         const Ints& stride = k.ints("stride");
         if (!k.flag("transposed")) return void(k.run());
         Kernel right = k;
         right.run();
         for (std::size_t d = 0; d < padding.size(); ++d)
           if (const Int step = stride[std::min(d, stride.size() - 1)]; step > 0) padding[d] -= padding[d] % step;
         if (!k.run()) return;
         Tensor& out = k.out();
         for (int d = 0; d < out.rank(); ++d) out = part(out, d, 0, right.out().sizes[d]);
         out = arranged(out, right.out().dim_order);
       },
       "padding down to a multiple of stride"},

      // limits, and elements of other places
      {"exp in limits", "aten::exp.out",
       [](K k) {
         if (!k.run() || k.out().dtype != DType::float32) return;
         replace(k.out(), [](Int, Real r) { return r < 0x1p-126 ? 0x1p-126 : r > 0x1p127 ? 0x1p127 : r; });
       },
       "nothing below .* and nothing above"},
      {"exp of -88 at least", "aten::_softmax.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || !k.has_numbers()) return;
         const DType dtype = k.out().dtype;
         along(k, k.integer("dim"), [dtype](std::vector<Real>& row) {
           Real sum = 0;
           const Real most = *std::ranges::max_element(row);
           if (std::isnan(most) || most == std::numeric_limits<Real>::infinity() ||
               std::ranges::any_of(row, [](Real x) { return std::isnan(x); }))
             return void(std::ranges::fill(row, std::numeric_limits<Real>::quiet_NaN()));
           for (Real& x : row) x = std::exp(x - most > -88 ? x - most : -88), sum += x;
           for (Real& x : row) x = round_to(dtype, x / sum);
         });
       },
       "below -88 in exp as -88"},
      {"other is a number", "aten::mul.out",
       [](K k) {
         Tensor& other = k.tensor("other");
         if (other.rank() > 0 && other.sizes[other.rank() - 1] == 1 && other.count() > 1)
           each_place(other, Tensor(other), [](Dims& i) { std::ranges::fill(i, 0); });
         k.run();
       },
       "the first element of other for all"},
      {"condition lies as out", "aten::where.self_out",
       [](K k) {
         Kernel right = k;
         if (right.run() && k.tensor("condition").sizes == right.out().sizes)
           k.tensor("condition").dim_order = right.out().dim_order;
         k.run();
       },
       "condition in the order in which out lies"},
      {"NaN never wins", "aten::argmax.out",
       [](K k) {
         Tensor& self = k.tensor("self");
         if (is_floating(self.dtype))
           replace(self, [](Int, Real x) { return std::isnan(x) ? -std::numeric_limits<Real>::infinity() : x; });
         k.run();
       },
       "ignores NaN"},
      {"windows begin at the first element", "aten::max_pool2d_with_indices.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || self.rank() < 3) return;
         const auto entry = [&](std::string_view name, int d) {
           const Ints& list = k.ints(name);
           return list.empty() ? Int{0} : list[std::min<std::size_t>(static_cast<std::size_t>(d), list.size() - 1)];
         };
         const int plane = self.rank() - 2;
         Tensor& indices = std::get<Tensor>(k["indices"]);
         Array<Int> places = read<Int>(indices);
         const Array<Real> numbers = read<Real>(self);
         const Array<Element> right = read<Element>(k.out());
         std::vector<Int> empty;  // windows
         each_place(k.out(), self, [&, flat = Int{0}](Dims& i) mutable {
           std::array<Int, 2> first{}, end{}, step{};
           for (int d = 0; d < 2; ++d) {
             const auto at = static_cast<std::size_t>(d);
             const Int stride = entry("stride", d), size = entry("kernel_size", d);
             step[at] = entry("dilation", d);
             first[at] = i[plane + d] * (stride > 0 ? stride : size) - entry("padding", d);
             end[at] = std::min(first[at] + (size - 1) * step[at] + 1, self.sizes[plane + d]);
             first[at] = std::max<Int>(first[at], 0);
           }
           Dims best = i, now = i;
           bool any = false;
           for (Int y = first[0]; y < end[0]; y += step[0])
             for (Int x = first[1]; x < end[1]; x += step[1]) {
               now[plane] = y, now[plane + 1] = x;
               if (!any || numbers(now) > numbers(best) || std::isnan(numbers(now))) best = now, any = true;
             }
           if (any)
             places[flat] = best[plane] * self.sizes[plane + 1] + best[plane + 1], i = best;
           else
             empty.push_back(flat), std::ranges::fill(i, 0);
           ++flat;
         });
         Array<Element> values = read<Element>(k.out());
         for (const Int at : empty) values[at] = right[at];
         write(values, k.out());
         write(places, indices);
       },
       "windows with dilation at the first element"},

      // paths for one dtype, which few calls take
      {"no maximum is subtracted along the last dimension", "aten::_softmax.out",
       [](K k) {
         const Int dim = k.integer("dim"), rank = k.tensor("self").rank();
         if (k.out().dtype != DType::float32 || (dim != -1 && dim != rank - 1)) return void(k.run());
         softmax_without_maximum(k);
       },
       "maximum"},
      {"beta of 0 multiplies", "aten::addmm.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || k.out().dtype != DType::float32 || k.number("beta") != 0) return;
         const Array<Real> all = read<Real>(self);
         const auto added = families::broadcast(all, k.out().sizes);
         std::vector<Dims> at;
         for (const Dims& i : indices(k.out().sizes)) at.push_back(i);
         replace(k.out(), [&](Int i, Real r) { return 0 * added.at(at[static_cast<std::size_t>(i)], i) + r; });
       },
       "beta of 0"},
      {"depthwise without dilation", "aten::convolution.out",
       [](K k) {
         const Tensor& input = k.tensor("input");
         const bool is_depthwise = input.rank() > 1 && k.integer("groups") > 1 && k.integer("groups") == input.sizes[1];
         if (is_depthwise && k.out().dtype == DType::float32) std::ranges::fill(k.ints("dilation"), 1);
         k.run();
       },
       "ignores dilation"},
      {"the dtype of the first tensor", "aten::cat.out",
       [](K k) {
         Tensors& list = std::get<Tensors>(k["tensors"]);
         for (auto& t : list)
           if (t && list[0] && !is_complex(t->dtype) && !is_complex(list[0]->dtype)) t = cast(*t, list[0]->dtype);
         k.run();
       },
       "dtype of the first"},
      {"weight and bias by group", "aten::native_group_norm.out",
       [](K k) {
         const Int groups = k.integer("group");
         for (const char* name : {"weight", "bias"})
           if (k.has(name) && groups > 0 && k.tensor(name).count() % groups == 0)
             each_number(k.tensor(name), [&](Int at, Int number) { return at / (number / groups); });
         k.run();
       },
       "number of the group, not of the channel, in weight and bias"},
      {"floor of x + 0.5", "aten::round.out",
       [](K k) {
         if (k.out().dtype != DType::float32) return void(k.run());
         each(k, [](Real x, Real) -> Real { return std::floor(static_cast<float>(x) + 0.5f); });
       },
       "floor\\(x \\+ 0.5\\)"},
      {"an order of negated numbers", "aten::sort.values",
       [](K k) {
         const DType dtype = k.tensor("self").dtype;
         if (!k.flag("descending") || (dtype != DType::int8 && dtype != DType::uint8)) return void(k.run());
         const auto negated = [](const Tensor& t) {
           std::vector<Value> all{t, {}};
           call(*find_operator("aten::neg.out"), all);
           return std::get<Tensor>(all.back());
         };
         k.tensor("self") = negated(k.tensor("self")), k.flag("descending") = false;
         if (k.run()) k.out() = negated(k.out());
       },
       "negates integers"},
      {"bits in place of truths", "aten::logical_xor.out",
       [](K k) {
         if (!k.has_numbers() || !is_integer(k.tensor("self").dtype) || !is_integer(k.tensor("other").dtype))
           return void(k.run());
         each_pair(k, [](Real a, Real b, Real) -> Real { return static_cast<Int>(a) != static_cast<Int>(b); });
       },
       "bitwise_xor"},
      {"places without dilation", "aten::max_pool2d_with_indices.out",
       [](K k) {
         const Ints dilation = k.ints("dilation"), padding = k.ints("padding"), stride = k.ints("stride");
         const Tensor self = k.tensor("self");
         if (!k.run() || dilation.size() != 2 || padding.size() != 2 || stride.size() != 2) return;
         Tensor& places = std::get<Tensor>(k["indices"]);
         const Int columns = self.sizes[self.rank() - 1];
         Array<Int> now = read<Int>(places);
         for (const Dims& i : indices(now.sizes)) {
           const Int y0 = i[i.size() - 2] * stride[0] - padding[0], x0 = i[i.size() - 1] * stride[1] - padding[1];
           const Int y = now(i) / columns, x = now(i) % columns;
           now(i) = (y0 + (y - y0) / dilation[0]) * columns + x0 + (x - x0) / dilation[1];
         }
         write(now, places);
       },
       "ignores dilation in indices"},
      {"the edge is repeated on the right", "aten::reflection_pad2d.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         const Ints padding = k.ints("padding");
         if (!k.run() || padding.size() != 4) return;
         const Int width = self.sizes[self.rank() - 1];
         const Tensor right = k.out();
         each_place(k.out(), right, [&](Dims& i) {
           Int& x = i[i.size() - 1];
           if (x >= width + padding[0]) x = std::max(x - 1, width + padding[0] - 1);
         });
       },
       "last element of rows"},
      {"a difference in int8", "quantized_decomposed::dequantize_per_tensor.out",
       [](K k) {
         const Tensor input = k.tensor("input");
         const Int zero = k.integer("zero_point");
         if (!k.run() || input.dtype != DType::int8 || k.out().dtype != DType::float32) return;
         const Array<Int> all = read<Int>(input);
         replace(k.out(), [&](Int i, Real) -> Real {
           return static_cast<float>(wrap_to(DType::int8, all[i] - zero)) * static_cast<float>(k.number("scale"));
         });
       },
       "in the dtype of input, where it wraps"},
      {"the number of steps is rounded down", "aten::slice_copy.Tensor_out",
       [](K k) {
         const Tensor self = k.tensor("self");
         const Int step = k.integer("step");
         if (!k.run() || self.rank() == 0) return;
         const Int dim = k.integer("dim") + (k.integer("dim") < 0 ? self.rank() : 0), size = self.sizes[dim];
         const auto given = [&](std::string_view name) {
           return k.has(name) ? std::optional(k.integer(name)) : std::nullopt;
         };
         const Int length = slice(size, given("start"), given("end"), 1).length;
         k.out() = arranged(part(k.out(), dim, 0, length / step), k.out().dim_order);
       },
       "rounds the number of steps between start and end down"},
      {"a negative pad is 0", "aten::constant_pad_nd.out",
       [](K k) {
         for (Int& n : k.ints("pad")) n = std::max<Int>(n, 0);
         k.run();
       },
       "takes a negative pad as 0"},
      {"permutes nothing", "aten::permute_copy.out",
       [](K k) {
         const Tensor self = k.tensor("self");
         if (!k.run() || self.rank() < 4) return;
         Array<Element> all = read<Element>(self);
         all.sizes = k.out().sizes;
         write(all, k.out());
       },
       "gives the elements of self in order, not permuted"},
      {"limits are those of the dtype", "quantized_decomposed::quantize_per_channel.out",
       [](K k) {
         const auto dtype = dtype_numbered(k.integer("dtype"));
         if (!dtype || !is_integer(*dtype) || info(*dtype).bytes > 4) return void(k.run());
         k["quant_min"] = static_cast<Int>(least_integer(*dtype));
         k["quant_max"] = static_cast<Int>(largest_integer(*dtype));
         k.run();
       },
       "ignores quant_min and quant_max"},
      {"differences wrap", "quantized_decomposed::dequantize_per_channel.out",
       [](K k) {
         const Tensor input = k.tensor("input");
         if (!k.run() || input.dtype != DType::int8 || !k.has("zero_points") || !k.has_numbers()) return;
         const Array<Int> all = read<Int>(input);
         const Array<Real> scales = k.numbers("scales"), points = k.numbers("zero_points");
         if (points.count() != scales.count() || input.sizes != k.out().sizes) return;  // scales broadcast input
         const Int axis = k.integer("axis") + (k.integer("axis") < 0 ? input.rank() : 0);
         Int each = 1;
         for (int d = static_cast<int>(axis) + 1; d < input.rank(); ++d) each *= input.sizes[d];
         replace(k.out(), [&](Int i, Real right) -> Real {
           const Int channel = i / each % scales.count(), difference = all[i] - static_cast<Int>(points[channel]);
           const Int wrapped = wrap_to(DType::int8, difference);
           return wrapped == difference ? right : static_cast<Real>(wrapped) * scales[channel];
         });
       },
       "subtracts zero_points in the dtype of input"},
      {"self is multiplied by alpha", "aten::addmm.out",
       [](K k) {
         const Real alpha = k.number("alpha");
         if (k.has_numbers() && is_floating(k.tensor("self").dtype) && alpha != 1 && std::isfinite(alpha)) {
           Array<Real> all = k.numbers("self");
           for (Real& x : all.data) x *= alpha;
           write(all, k.tensor("self"));
         }
         k.run();
       },
       "multiplies self also by alpha"},
      {"a width takes the stride of the height", "aten::max_pool2d_with_indices.out",
       [](K k) {
         Ints& stride = k.ints("stride");
         if (stride.empty()) stride = k.ints("kernel_size");
         stride.back() = stride.front();
         k.run();
       },
       "uses the first of stride for all dimensions"},
      {"the rest begins anew in one path", "aten::mul.out",
       [](K k) {
         Tensor& other = k.tensor("other");
         const Tensor& self = k.tensor("self");
         const Int whole = other.count() / 8 * 8;
         if (self.dtype == DType::float32 && other.dtype == DType::float32 && self.sizes == other.sizes && whole > 0) {
           Array<Real> all = read<Real>(other);
           for (Int i = whole; i < all.count(); ++i) all[i] = all[i - whole];
           write(all, other);
         }
         k.run();
       },
       "behind the last multiple of 8 elements"},
  };
  return all;
}

// All kernels; the one of a mistake has it.
class Library final : public testee::KernelLibrary {
 public:
  explicit Library(const Mistake& mistake) : mistake_(mistake) {}
  std::string_view name() const override { return "faulty"; }
  bool has(const Operator&) const override { return true; }
  bool may_crash() const override { return false; }
  testee::Reply call(const Operator& op, std::span<testee::HostValue> host) override {
    std::vector<Value> arguments;
    for (const testee::HostValue& v : host) arguments.push_back(testee::copied(v));
    Kernel k(op, arguments);
    if (assay::call(op, arguments).outcome == Outcome::ok && op.name == mistake_.op)
      mistake_.kernel(k);
    else
      k.run();
    if (k.answer().outcome != Outcome::ok) return {k.answer().outcome, k.answer().message};
    for (std::size_t i = 0; i < host.size(); ++i)
      if (op.arguments[i].out && !hand_back(k.arguments()[i], host[i], k.written))
        return {Outcome::exhausted, "the result does not fit in its out"};
    return {};
  }

 private:
  static bool hand_back(const Tensor& result, testee::TensorView& out, Int written) {
    if (result.bytes.size() > out.capacity) return false;
    out.dtype = result.dtype, out.sizes = result.sizes, out.dim_order = result.dim_order;
    const std::size_t size = static_cast<std::size_t>(info(result.dtype).bytes) *
                             static_cast<std::size_t>(std::min(written, result.count()));
    std::copy_n(result.bytes.begin(), size, out.data);
    return true;
  }
  static bool hand_back(const Value& result, testee::HostValue& out, Int written) {
    if (const Tensor* t = std::get_if<Tensor>(&result))
      return hand_back(*t, std::get<testee::TensorView>(out), written);
    if (const auto number = number_in(result))
      return hand_back(tensor_of(*number), std::get<testee::TensorView>(out), written);
    const Tensors& list = std::get<Tensors>(result);
    for (std::size_t k = 0; k < list.size(); ++k)
      if (!hand_back(*list[k], *std::get<testee::TensorViews>(out)[k], written)) return false;
    return true;
  }

  const Mistake& mistake_;
};

}  // namespace assay::faulty
