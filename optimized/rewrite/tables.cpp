#include <array>
#include <cmath>

#include "optimized/rewrite/codes.h"
#include "optimized/runtime/table.h"
#include "rewrites.gen.h"

// Replaces codes by other codes. If each element of a tensor of codes is converted to a number, the number goes through
// elementwise calls, and the result is quantized, then there are at most 256 results: one step looks them up. The table
// is computed while the method is made, with the roundings of the separate calls, so that the codes stay the same.
namespace assay::optimized {
namespace {

using kernels::Activation;

class Table {
 public:
  Table(Draft& draft, std::uint32_t at) : draft_(draft), at_(at), last_(draft.calls[at].call) {}

  bool replace() {
    const auto result = quantized(draft_, draft_.calls[at_]);
    if (!result || last_.fusion || !last_.set || !is_of_codes(*last_.arguments.back())) return false;
    Numbers numbers;
    if (!read(last_[0], numbers) || source_ == Instruction::none) return false;
    const auto table = draft_.tables.take<std::uint8_t>(most_codes);
    const auto arguments = draft_.tables.take<Value*>(last_.arguments.size());
    const auto codes = draft_.tables.take<CodesOfCall>(1);
    const auto fusion = draft_.tables.take<Fusion>(1);
    if (!draft_.has_room()) return false;
    if (result->dtype == DType::int8)
      kernels::find_quantize<std::int8_t> (*last_.set)(result->numbers, numbers.data(),
                                                       reinterpret_cast<std::int8_t*>(table.data()), most_codes);
    else
      kernels::find_quantize<std::uint8_t> (*last_.set)(result->numbers, numbers.data(), table.data(), most_codes);
    std::ranges::copy(last_.arguments, arguments.begin());
    arguments[0] = draft_.calls[source_].call.arguments[0];
    codes[0].table = table.data(), fusion[0].codes = codes.data();
    Call call = last_;
    call.arguments = arguments, call.fusion = fusion.data();
    if (!find_kernel(call)) return false;
    draft_.calls[at_].call = call;
    draft_.flow.leave(draft_.index_of(*last_.arguments[0])), draft_.flow.enter(draft_.index_of(*arguments[0]));
    for (std::size_t i = 0; i < n_; ++i) draft_.leave_if_unread(done_[i], at_);
    return true;
  }

 private:
  static constexpr std::size_t most_codes = 256, most_calls = 24;
  using Numbers = std::array<float, most_codes>;

  static bool is_of_codes(const Value& v) { return v.tensor->dtype == DType::int8 || v.tensor->dtype == DType::uint8; }

  // Computes the number of an element of v for each code, as unsigned bytes. Returns false if it depends on more.
  bool read(const Value& v, Numbers& numbers) {
    if (const auto n = number_of(v)) {
      numbers.fill(static_cast<float>(*n));
      return static_cast<double>(numbers[0]) == *n;
    }
    if (!is_f32(v) || n_ == most_calls || !draft_.is_seen_alike(draft_.index_of(v))) return false;
    const std::uint32_t writer = draft_.flow.group(draft_.index_of(v)).writer;
    if (writer == Instruction::none || writer >= at_) return false;
    const Instruction& p = draft_.calls[writer];
    if (p.dead || !p.is_typed || p.call.fusion || !p.call.arguments.back()->is_tensor()) return false;
    const Tensor &out = *p.call.arguments.back()->tensor, &result = *last_.arguments.back()->tensor;
    if (!draft_.same_sizes(out, *v.tensor) || !draft_.same_elements(out, *v.tensor) || !draft_.same_sizes(out, result))
      return false;
    done_[n_++] = writer;
    if (const auto codes = dequantized(draft_, p)) return convert(writer, *codes, numbers);
    return draft_.is_pointwise_f32(p.call) && compute(p, numbers);
  }

  bool convert(std::uint32_t writer, const Codes& codes, Numbers& numbers) {
    const Value& from = draft_.calls[writer].call[0];
    if (!draft_.same_sizes(*from.tensor, *last_.arguments.back()->tensor) || !draft_.stays(from, writer, at_))
      return false;
    if (source_ == Instruction::none) source_ = writer;
    if (draft_.calls[source_].call.arguments[0] != &from) return false;
    std::array<std::uint8_t, most_codes> all;
    for (std::size_t i = 0; i < most_codes; ++i) all[i] = static_cast<std::uint8_t>(i);
    const float zero_point = codes.numbers.zero_point, scale = codes.numbers.scale;
    if (codes.dtype == DType::int8)
      kernels::find_dequantize<std::int8_t> (*last_.set)(
          zero_point, scale, reinterpret_cast<const std::int8_t*>(all.data()), numbers.data(), most_codes);
    else
      kernels::find_dequantize<std::uint8_t> (*last_.set)(zero_point, scale, all.data(), numbers.data(), most_codes);
    return true;
  }

  bool compute(const Instruction& p, Numbers& numbers) {
    const auto is = [&](std::string_view op) { return draft_.is_op(p, op); };
    const Call& call = p.call;
    if (const auto limits = limits_of(draft_, p))
      return read(call[0], numbers) &&
             activate({.activation = Activation::clamp, .low = limits->low, .high = limits->high}, numbers);
    if (is("aten::sigmoid.out"))
      return read(call[0], numbers) && activate({.activation = Activation::sigmoid}, numbers);
    if (is("aten::gelu.out") && call[1].kind == ValueKind::string)
      return read(call[0], numbers) &&
             activate({.activation = call[1].string() == "none" ? Activation::gelu : Activation::gelu_tanh}, numbers);
    if (is("aten::add.out") || is("aten::add.Scalar_out"))
      return is_number(call[2], 1) && combine(call, numbers, [](float a, float b) { return a + b; });
    if (is("aten::sub.out") || is("aten::sub.Scalar_out"))
      return is_number(call[2], 1) && combine(call, numbers, [](float a, float b) { return a - b; });
    if (is("aten::mul.out") || is("aten::mul.Scalar_out"))
      return combine(call, numbers, [](float a, float b) { return a * b; });
    if (is("aten::div.out") || is("aten::div.Scalar_out"))
      return combine(call, numbers, [](float a, float b) { return a / b; });
    return false;
  }

  bool activate(const kernels::Epilogue& activation, Numbers& numbers) {
    kernels::activate(*last_.set, activation, numbers.data(), numbers.data(), most_codes);
    return true;
  }

  // Each result is rounded to a float.
  template <class F>
  bool combine(const Call& call, Numbers& numbers, const F& f) {
    Numbers other;
    if (!read(call[0], numbers) || !read(call[1], other)) return false;
    for (std::size_t i = 0; i < most_codes; ++i) numbers[i] = f(numbers[i], other[i]);
    return true;
  }

  Draft& draft_;
  std::uint32_t at_;
  const Call last_;                           // it quantizes
  std::uint32_t source_ = Instruction::none;  // the call that converts the codes
  std::uint32_t done_[most_calls];  // the calls whose work the table does; a reader of a result is before its writer
  std::size_t n_ = 0;
};

bool tabulate(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size(); ++i)
    if (draft.is_op(draft.calls[i], "quantized_decomposed::quantize_per_tensor.out"))
      changed |= Table(draft, i).replace();
  return changed;
}

}  // namespace

const Rewrite look_up_codes{"look_up_codes", tabulate};

}  // namespace assay::optimized
