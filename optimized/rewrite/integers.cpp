#include <bit>
#include <cmath>
#include <limits>

#include "optimized/rewrite/codes.h"
#include "optimized/rewrite/fuser.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/reduced.h"
#include "rewrites.gen.h"

// Computes with codes instead of numbers. A convolution or a matrix product reads the codes from which its input and
// its weight are converted, sums products of codes, and stores the codes to which its result would be converted. The
// sum is an exact integer, so the result is the code of a number within the bound of the convolution: spec/numerics.md,
// "Fused calls". A mean over height and width, and an average pool, add up codes; the result is the code of a number
// within the bound of the mean: "Means of codes" there. A sum or a product of two tensors converts their codes and its
// result in one pass; each step is rounded as before. Clamps before the result is quantized become limits of its codes,
// because the code of a number rises with the number.
// Three kinds of calls of undelegated XNNPACK payloads keep their codes: products of whole numbers and averages, whose
// sums are exact in float64, and sums in fixed point, which are computed with 64-bit integers, step after step, and
// become one pass with 32-bit integers if no numerator needs more.
namespace assay::optimized {
namespace {

// Numbers that all elements of a tensor have, because they follow from constants and sizes alone.
class Uniform {
 public:
  explicit Uniform(Draft& draft) : draft_(draft) {}

  // The number of the elements of v, computed in the dtypes of the calls that make it.
  std::optional<double> of(const Value& v) {
    if (const auto n = number_of(v)) return n;
    if (!v.is_tensor() || v.tensor->moves || n_ == most_calls || !draft_.is_seen_alike(draft_.index_of(v))) return {};
    const std::uint32_t writer = draft_.flow.group(draft_.index_of(v)).writer;
    if (writer == Instruction::none) return {};
    const Instruction& p = draft_.calls[writer];
    if (p.dead || !p.is_typed || p.call.fusion || !p.call.arguments.back()->is_tensor() ||
        !draft_.same_sizes(p.call.out(), *v.tensor) || !find_kernel(p.call))
      return {};
    done_[n_++] = writer;
    const auto is = [&](std::string_view op) { return draft_.is_op(p, op); };
    const Call& call = p.call;
    if (is("aten::full_like.out")) return is_copy(call) ? in(call.out().dtype, number_of(call[1])) : std::nullopt;
    if (is("aten::_to_copy.out")) return is_copy(call) ? in(call.out().dtype, of(call[0])) : std::nullopt;
    if (is("aten::sum.IntList_out")) return is_count(call) ? count(call) : std::nullopt;
    if (is("aten::mul.out") || is("aten::mul.Scalar_out")) return combine(call, [](float a, float b) { return a * b; });
    if (is("aten::div.out")) return combine(call, [](float a, float b) { return a / b; });
    if (is("aten::rsub.Scalar_out") && is_number(call[2], 1))
      return combine(call, [](float a, float b) { return b - a; });
    return {};
  }

  // Drops the calls that made the numbers, unless other calls read their results.
  void leave_unread(std::uint32_t into) {
    for (std::size_t i = 0; i < n_; ++i) draft_.leave_if_unread(done_[i], into);
  }

 private:
  static constexpr std::size_t most_calls = 24;

  static std::optional<double> in(DType dtype, std::optional<double> x) {
    if (dtype == DType::float64) return x;
    return x && dtype == DType::float32 ? std::optional<double>(static_cast<float>(*x)) : std::nullopt;
  }

  // Whether a call with the operands self, a number, memory format and out makes a tensor as self is.
  bool is_copy(const Call& call) const {
    const Tensor &x = call.tensor(0), &y = call.out();
    return call[2].kind == ValueKind::none && draft_.same_sizes(x, y) &&
           std::equal(x.dim_order, x.dim_order + x.rank, y.dim_order);
  }

  static bool is_count(const Call& call) {
    Shape result;
    std::uint32_t reduced = 0;
    return call[3].kind == ValueKind::none && call.tensor(0).dtype == DType::float64 &&
           call.out().dtype == DType::float64 && plan(call, optimized::Dims::named_or_all, result, reduced) &&
           std::ranges::equal(result.span(), call.out().shape()) && call.out().count() > 0;
  }

  // The sum of ones.
  std::optional<double> count(const Call& call) {
    const auto one = of(call[0]);
    if (one != 1) return {};
    return static_cast<double>(call.tensor(0).count() / call.out().count());
  }

  template <class F>
  std::optional<double> combine(const Call& call, const F& f) {
    if (!draft_.is_pointwise_f32(call)) return {};
    const auto a = of(call[0]), b = of(call[1]);
    if (!a || !b) return {};
    return f(static_cast<float>(*a), static_cast<float>(*b));
  }

  Draft& draft_;
  std::uint32_t done_[most_calls];  // a reader of a result is before its writer
  std::size_t n_ = 0;
};

class CodeCall : public Fuser {
 public:
  using Fuser::Fuser;

  // A convolution or a matrix product of operands `input` and `weight`. In an undelegated XNNPACK payload it is
  // computed in float64, with whole numbers, so that it is exact. It is then rounded to float32, multiplied by a factor
  // for each channel, and quantized with the scale 1.
  bool fuse_product(std::size_t input, std::size_t weight, std::optional<std::size_t> bias = {}) {
    CodesOfCall codes;
    if (is_float32(result())) return find_weight(weight, codes) && find_source(input, codes.input) && take_codes(codes);
    return find_whole(weight, DType::int8) && (!bias || find_whole(*bias, DType::int32)) &&
           find_source(input, codes.input, counted) && find_factors(codes) && take_codes(codes);
  }

  bool fuse_sum() {
    CodesOfCall codes;
    return is_number(call()[2], 1) && find_operands(codes) && take_codes(codes);
  }

  // A product of two tensors. In an undelegated XNNPACK payload, the next call multiplies it by a number.
  bool fuse_product_of_tensors() {
    CodesOfCall codes;
    if (!find_operands(codes)) return false;
    const Instruction* p = next(result());
    if (p && draft_.is_op(*p, "aten::mul.Scalar_out") && draft_.is_pointwise_f32(p->call)) {
      const auto factor = number_of(p->call[1]);
      if (!factor || !is_factor(*factor)) return false;
      codes.factor = static_cast<float>(*factor), ++n_, from_ = p->call.arguments.back();
    }
    return take_codes(codes);
  }

  // A mean, or an average pool. `dtype` is the index of the dtype that a mean may name.
  bool fuse_mean(std::optional<std::size_t> dtype = {}) {
    CodesOfCall codes;
    return (!dtype || call()[*dtype].kind == ValueKind::none) && is_f32(result()) && find_source(0, codes.input) &&
           take_codes(codes);
  }

  // A sum of codes that are cast to float64. It is rounded to float32, multiplied by a number and added to a number.
  // Both are computed from the count of the codes, which is a sum of ones.
  bool fuse_average() {
    CodesOfCall codes{};
    const Instruction* cast = writer(call()[0], "aten::_to_copy.out", sources_[0]);
    if (!call().set || !cast || !cast->call[0].is_tensor() || call()[3].kind != ValueKind::none ||
        !is_tensor_of(call()[0], DType::float64) || !is_tensor_of(result(), DType::float64) ||
        !draft_.same_sizes(cast->call.tensor(0), call().tensor(0)) || !draft_.stays(cast->call[0], sources_[0], at()))
      return false;
    const std::uint32_t source = sources_[0];
    arguments_[0] = cast->call.arguments[0];
    Uniform numbers(draft_);
    const Instruction* p = next(result());
    if (!p || !draft_.is_op(*p, "aten::_to_copy.out") || !is_f32(*p->call.arguments.back()) || !has_sizes(*p))
      return false;
    ++n_, from_ = p->call.arguments.back();
    const auto factor = find_number(numbers, "aten::mul.out"), offset = find_number(numbers, "aten::add.out");
    if (!factor || !offset || !is_factor(*factor) || !(std::fabs(*offset) < 0x1p100)) return false;
    codes.factor = static_cast<float>(*factor), codes.offset = static_cast<float>(*offset);
    if (!take_codes(codes)) return false;
    numbers.leave_unread(at());
    draft_.leave_if_unread(source, Instruction::none);
    return true;
  }

  // A max pool of converted codes whose result is quantized: the largest code is the code of the largest number, if
  // each code becomes the same code again. The indices are not needed.
  bool fuse_pool() {
    constexpr std::size_t maxima = 6;
    CodesOfCall codes;
    const std::uint32_t indices = draft_.index_of(result());
    if (!call().set || !call()[maxima].is_tensor() || !draft_.flow.is_private(indices) ||
        draft_.flow.group(indices).readers > 0 || !find_source(0, codes.input))
      return false;
    const Instruction* p = next(call()[maxima]);
    const auto again = p ? quantized(draft_, *p) : std::nullopt;
    if (!again || again->dtype != arguments_[0]->tensor->dtype || !keeps_codes(codes.input, *again) ||
        !draft_.same_sizes(*p->call.arguments.back()->tensor, call().tensor(maxima)))
      return false;
    const auto before = call().arguments;
    const auto arguments = draft_.tables.take<Value*>(before.size());
    if (!draft_.has_room()) return false;
    ++n_, std::ranges::copy(before, arguments.begin());
    arguments[0] = arguments_[0], arguments[maxima] = p->call.arguments.back();
    if (!take({.unread = true}, arguments, before.back(), {done_, n_})) return false;
    leave_sources(before, arguments);
    return true;
  }

  // A sum of products of codes and integers, to which an integer is added. It is divided by a power of two, rounded
  // down, moved by the zero point and clamped to the codes of the result.
  bool fuse_fixed_point_sum() {
    CodesOfCall codes;
    kernels::FixedPointSum sum;
    if (!call().set || !is_number(call()[2], 1) || !find_term(0, sum.a_factor) || !find_term(1, sum.b_factor) ||
        !find_quotient(sum))
      return false;
    const auto kept = draft_.tables.take<kernels::FixedPointSum>(1);
    if (!draft_.has_room()) return false;
    kept[0] = sum, codes.fixed_point = kept.data();
    return take_operands(codes);
  }

 private:
  // Finds the codes from which both operands of a sum or product of float32 tensors are converted.
  bool find_operands(CodesOfCall& codes) {
    return call().set && draft_.is_pointwise_f32(call()) && find_source(0, codes.input) && find_source(1, codes.other);
  }

  // Whether no result of codes that are multiplied by the number, which is a float, is NaN.
  static bool is_factor(double x) {
    return static_cast<double>(static_cast<float>(x)) == x && std::fabs(x) > 0x1p-100 && std::fabs(x) < 0x1p100;
  }

  // The number that the next call combines with the value `from_`, which becomes the call's result.
  std::optional<double> find_number(Uniform& numbers, std::string_view op) {
    const Instruction* p = next(*from_);
    if (!p || !draft_.is_op(*p, op) || !draft_.is_pointwise_f32(p->call) || !has_sizes(*p) ||
        (op == "aten::add.out" && !is_number(p->call[2], 1)))
      return {};
    const bool first = draft_.root(p->call[0]) == draft_.root(*from_);
    ++n_, from_ = p->call.arguments.back();
    return numbers.of(p->call[first ? 1 : 0]);
  }

  // Finds the constant codes from which operand i is converted: by itself, or by its transpose.
  bool find_weight(std::size_t i, CodesOfCall& codes) {
    const Value& v = call()[i];
    if (!is_f32(v) || v.tensor->maker == Tensor::no_maker) return false;
    codes.weight = &draft_.calls[v.tensor->maker].call;
    arguments_[i] = codes.weight->arguments[0];
    const Value* converted = codes.weight->arguments.back();
    const Tensor &t = *v.tensor, &whole = *converted->tensor;
    codes.has_transposed_weight = converted != &v;
    return converted == &v || (t.rank == 2 && whole.rank == 2 && whole.is_contiguous() && t.dim_order[0] == 1 &&
                               t.size(0) == whole.size(1) && t.size(1) == whole.size(0));
  }

  // Finds the constant integers from which operand i is cast to float64, unless it is None.
  bool find_whole(std::size_t i, DType dtype) {
    const Value& v = call()[i];
    if (v.kind == ValueKind::none) return true;
    if (!v.is_tensor() || v.tensor->moves || !draft_.is_seen_alike(draft_.index_of(v))) return false;
    sources_[i] = draft_.flow.group(draft_.index_of(v)).writer;
    const Instruction& cast = draft_.calls[sources_[i]];
    arguments_[i] = cast.call.arguments[0];
    return draft_.is_op(cast, "aten::_to_copy.out") && cast.call[0].is_tensor() && cast.call.tensor(0).constant &&
           cast.call.tensor(0).dtype == dtype && draft_.same_sizes(cast.call.tensor(0), *v.tensor);
  }

  // Finds the cast of the result to float32 and the product with constant factors.
  bool find_factors(CodesOfCall& codes) {
    const Instruction* cast = next(result());
    if (!cast || !draft_.is_op(*cast, "aten::_to_copy.out") || !is_f32(*cast->call.arguments.back())) return false;
    ++n_, from_ = cast->call.arguments.back();
    const Instruction* product = next(*from_);
    if (!product || !draft_.is_op(*product, "aten::mul.out") || !draft_.is_pointwise_f32(product->call)) return false;
    const bool first = draft_.root(product->call[0]) == draft_.root(*from_);
    const Value& factors = product->call[first ? 1 : 0];
    ++n_, from_ = product->call.arguments.back(), codes.factors = &factors;
    // A factor for each channel of images has the sizes (channels, 1, 1), of rows (channels).
    const Tensor& t = *factors.tensor;
    return t.constant && t.data && draft_.same_sizes(*result().tensor, *from_->tensor) &&
           (t.count() == 1 || t.size(0) == t.count()) &&
           (t.count() == 1 || t.rank == (result().tensor->rank == 4 ? 3 : 1));
  }

  // Finds the codes from which operand i is converted, if they are unchanged when the call runs.
  bool find_source(std::size_t i, kernels::FakeQuantizer& numbers, decltype(dequantized) how = dequantized) {
    const Value& v = call()[i];
    if (!v.is_tensor() || v.tensor->moves || !draft_.is_seen_alike(draft_.index_of(v))) return false;
    const std::uint32_t source = draft_.flow.group(draft_.index_of(v)).writer;
    const auto codes = how(draft_, draft_.calls[source]);
    if (!codes) return false;
    const Call& from = draft_.calls[source].call;
    const Tensor& out = *from.arguments.back()->tensor;
    numbers = codes->numbers, sources_[i] = source, arguments_[i] = from.arguments[0];
    return draft_.same_sizes(out, *v.tensor) && draft_.same_elements(out, *v.tensor) &&
           draft_.stays(from[0], source, at());
  }

  // The call that writes v if all calls see the elements that it writes, else null.
  const Instruction* writer(const Value& v, std::string_view op, std::uint32_t& at) {
    if (!v.is_tensor() || v.tensor->moves || !draft_.is_seen_alike(draft_.index_of(v))) return nullptr;
    at = draft_.flow.group(draft_.index_of(v)).writer;
    if (at == Instruction::none || !draft_.is_op(draft_.calls[at], op)) return nullptr;
    const Tensor& out = *draft_.calls[at].call.arguments.back()->tensor;
    const bool is_same = draft_.same_sizes(out, *v.tensor) && draft_.same_elements(out, *v.tensor);
    return is_same ? &draft_.calls[at] : nullptr;
  }

  static bool is_whole(const Value& v, std::int64_t least, std::int64_t most) {
    return v.kind == ValueKind::integer && !v.changes && v.integer >= least && v.integer <= most;
  }

  // Finds the 8-bit codes and the factor whose product is operand i.
  bool find_term(std::size_t i, std::int32_t& factor) {
    constexpr std::int64_t most = 1 << 22;
    const Instruction* product = writer(call()[i], "aten::mul.Scalar_out", sources_[i]);
    if (!product || !is_whole(product->call[1], -most, most)) return false;
    factor = static_cast<std::int32_t>(product->call[1].integer);
    const Instruction* cast = writer(product->call[0], "aten::_to_copy.out", casts_[i]);
    if (!cast || !cast->call[0].is_tensor() || cast->call.arguments.back()->tensor->dtype != DType::int64) return false;
    const Tensor& codes = cast->call.tensor(0);
    if (codes.dtype != DType::int8 && codes.dtype != DType::uint8) return false;
    arguments_[i] = cast->call.arguments[0];
    return call()[i].tensor->dtype == DType::int64 && draft_.same_sizes(codes, *call()[i].tensor) &&
           draft_.stays(cast->call[0], casts_[i], at());
  }

  // The call of an operator that reads an int64 result, if no other call reads it, and the result's sizes are kept.
  const Instruction* step(const Value& v, std::string_view op) {
    const Instruction* p = is_tensor_of(v, DType::int64) ? next(v) : nullptr;
    if (!p || !draft_.is_op(*p, op) || !p->call.arguments.back()->is_tensor() || !has_sizes(*p)) return nullptr;
    return ++n_, p;
  }

  // The calls that make codes of a sum of terms.
  bool find_quotient(kernels::FixedPointSum& sum) {
    constexpr std::int64_t most = 0x7fffffff, most_zero_point = 1 << 20;
    const Instruction* p = step(result(), "aten::add.Scalar_out");
    if (!p || !is_whole(p->call[1], -most, most) || !is_number(p->call[2], 1)) return false;
    sum.offset = static_cast<std::int32_t>(p->call[1].integer);
    p = step(*p->call.arguments.back(), "aten::div.Scalar_mode_out");
    if (!p || !is_whole(p->call[1], 1, 1 << 30) || p->call[2].kind != ValueKind::string ||
        p->call[2].string() != "floor")
      return false;
    sum.shift = std::countr_zero(static_cast<std::uint64_t>(p->call[1].integer));
    if (p->call[1].integer != std::int64_t{1} << sum.shift) return false;  // no power of two
    p = step(*p->call.arguments.back(), "aten::add.Scalar_out");
    if (!p || !is_whole(p->call[1], -most_zero_point, most_zero_point) || !is_number(p->call[2], 1)) return false;
    sum.zero_point = static_cast<std::int32_t>(p->call[1].integer);
    p = step(*p->call.arguments.back(), "aten::clamp.out");
    if (!p) return false;
    const Instruction* clamp = p;
    p = step(*p->call.arguments.back(), "aten::_to_copy.out");
    if (!p) return false;
    result_ = p->call.arguments.back();
    const DType dtype = result_->tensor->dtype;
    const std::int64_t least = dtype == DType::int8 ? -128 : 0;
    if ((dtype != DType::int8 && dtype != DType::uint8) || !is_whole(clamp->call[1], least, least + 255) ||
        !is_whole(clamp->call[2], clamp->call[1].integer, least + 255))
      return false;
    sum.low = static_cast<std::int32_t>(clamp->call[1].integer);
    sum.high = static_cast<std::int32_t>(clamp->call[2].integer);
    return fits(sum, dtype);
  }

  static bool is_tensor_of(const Value& v, DType dtype) { return v.is_tensor() && v.tensor->dtype == dtype; }

  // Whether no numerator needs more than 32 bits. The kernel requires operands of the result's dtype.
  static bool fits(const kernels::FixedPointSum& sum, DType dtype) {
    std::int64_t low = sum.offset, high = sum.offset;
    const std::int64_t least = dtype == DType::int8 ? -128 : 0;
    for (const std::int64_t factor : {sum.a_factor, sum.b_factor}) {
      const auto [a, b] = std::minmax({factor * least, factor * (least + 255)});
      low += a, high += b;
    }
    return low >= -0x7fffffff && high <= 0x7fffffff;
  }

  // Turns the call into one that computes with codes, up to the codes of its result.
  bool take_codes(CodesOfCall& codes) { return call().set && find_result(codes) && take_operands(codes); }

  // Turns the call into one that reads the codes `arguments_` and makes the codes `result_`.
  bool take_operands(const CodesOfCall& codes) {
    const std::span<Value* const> before = call().arguments;
    const auto kept = draft_.tables.take<CodesOfCall>(1);
    const auto arguments = draft_.tables.take<Value*>(before.size());
    if (!draft_.has_room()) return false;
    kept[0] = codes;
    std::ranges::copy(before, arguments.begin());
    for (std::size_t i = 0; i < std::size(arguments_); ++i)
      if (arguments_[i]) arguments[i] = arguments_[i];
    Fusion fusion;
    fusion.codes = kept.data();
    if (!take(fusion, arguments, result_, {done_, n_})) return false;
    leave_sources(before, arguments);
    return true;
  }

  // Drops the calls that convert the operands, unless other calls read their results.
  void leave_sources(std::span<Value* const> before, std::span<Value* const> arguments) {
    for (std::size_t i = 0; i < std::size(sources_); ++i) {
      if (sources_[i] == Instruction::none) continue;
      draft_.flow.leave(draft_.index_of(*before[i])), draft_.flow.enter(draft_.index_of(*arguments[i]));
      draft_.leave_if_unread(sources_[i], Instruction::none);
      if (casts_[i] != Instruction::none) draft_.leave_if_unread(casts_[i], Instruction::none);
    }
  }

  // Whether each code that is converted with the numbers and quantized again is the same code.
  bool keeps_codes(kernels::FakeQuantizer numbers, const Codes& again) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float least = again.dtype == DType::int8 ? -128.0f : 0.0f, most = least + 255;
    numbers.low = least, numbers.high = most;
    return clamp_codes(numbers, again, {-infinity, infinity}, *call().set) && numbers.low == least &&
           numbers.high == most;
  }

  // The call that quantizes a value, or that clamps it, if no other call reads the value.
  const Instruction* next(const Value& v) {
    return n_ < std::size(done_) && readers(v, &done_[n_], 1) == 1 ? &draft_.calls[done_[n_]] : nullptr;
  }

  // The calls that clamp and quantize the result; `result_` becomes the value that holds the codes.
  bool find_result(CodesOfCall& found) {
    const Value* v = from_;
    std::optional<Limits> limits;
    const Instruction* p = next(*v);
    if (p && (limits = limits_of(draft_, *p))) ++n_, v = p->call.arguments.back(), p = next(*v);
    const auto codes = p ? quantized(draft_, *p) : std::nullopt;
    if (!codes || !has_sizes(*p)) return false;
    ++n_, result_ = p->call.arguments.back(), found.result = codes->numbers;
    if (limits) {
      found.result.low = code_of(*codes, limits->low, *call().set);
      found.result.high = code_of(*codes, limits->high, *call().set);
    }
    while (clamp_again(found, *codes)) continue;
    return true;
  }

  bool has_sizes(const Instruction& p) const {
    return draft_.same_sizes(*result().tensor, *p.call.arguments.back()->tensor);
  }

  // The calls that convert the codes, clamp the numbers and quantize them again with the same scale.
  bool clamp_again(CodesOfCall& found, const Codes& before) {
    const std::size_t n = n_;
    const Instruction* back = next(*result_);
    const auto numbers = back ? dequantized(draft_, *back) : std::nullopt;
    const Instruction* clamp = numbers && ++n_ ? next(*back->call.arguments.back()) : nullptr;
    const auto limits = clamp ? limits_of(draft_, *clamp) : std::nullopt;
    const Instruction* p = limits && ++n_ ? next(*clamp->call.arguments.back()) : nullptr;
    const auto again = p ? quantized(draft_, *p) : std::nullopt;
    if (!again || !has_sizes(*p) || !numbers->have_scale_of(before) || !again->have_scale_of(before) ||
        !clamp_codes(found.result, *again, *limits, *call().set))
      return n_ = n, false;
    ++n_, result_ = p->call.arguments.back();
    return true;
  }

  std::uint32_t sources_[3] = {Instruction::none, Instruction::none,
                               Instruction::none};  // the calls that convert the operands
  std::uint32_t casts_[3] = {Instruction::none, Instruction::none,
                             Instruction::none};  // of a sum in fixed point, the calls that widen the codes
  Value* arguments_[3] = {};                      // the codes of the operands
  std::uint32_t done_[12];                        // the calls that are merged
  std::size_t n_ = 0;
  const Value* from_ = &result();  // the number whose code is the result
  Value* result_ = nullptr;
};

bool compute(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size(); ++i) {
    if (draft.calls[i].call.fusion) continue;
    const auto is = [&](std::string_view op) { return draft.is_op(draft.calls[i], op); };
    if (is("aten::convolution.out") || is("aten::linear.out"))
      changed |= CodeCall(draft, i).fuse_product(0, 1, 2);
    else if (is("aten::addmm.out"))
      changed |= CodeCall(draft, i).fuse_product(1, 2, 0);
    else if (is("aten::mm.out"))
      changed |= CodeCall(draft, i).fuse_product(0, 1);
    else if (is("aten::max_pool2d_with_indices.out"))
      changed |= CodeCall(draft, i).fuse_pool();
    else if (is("aten::add.out"))
      changed |= CodeCall(draft, i).fuse_sum() || CodeCall(draft, i).fuse_fixed_point_sum();
    else if (is("aten::mul.out"))
      changed |= CodeCall(draft, i).fuse_product_of_tensors();
    else if (is("aten::mean.out"))
      changed |= CodeCall(draft, i).fuse_mean(3);
    else if (is("aten::avg_pool2d.out") || is("aten::_adaptive_avg_pool2d.out"))
      changed |= CodeCall(draft, i).fuse_mean();
    else if (is("aten::sum.IntList_out"))
      changed |= CodeCall(draft, i).fuse_average();
  }
  return changed;
}

}  // namespace

const Rewrite compute_with_codes{"compute_with_codes", compute};

}  // namespace assay::optimized
