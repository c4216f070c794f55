#include <algorithm>
#include <array>
#include <utility>

#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of kernels that quantize with scales and zero points of channels and tokens, or with limits.
namespace assay::defects {
namespace {

// Kernels that clamp to the limits of the dtype, not to those that the call gives.
void ignored_limits(const Operator& op, std::vector<Hypothesis>& found) {
  const auto least = argument_of(op, "quant_min"), most = argument_of(op, "quant_max"),
             dtype = argument_of(op, "dtype");
  if (!is_named(op, "::quantize_per_") || !least || !most || !dtype) return;
  constexpr auto all = std::to_array<std::pair<bool, bool>>({{true, true}, {true, false}, {false, true}});
  for (const auto& [ignores_least, ignores_most] : all)
    found.push_back(
        as_if(op,
              concat("ignore ", ignores_least ? "quant_min" : "", ignores_least && ignores_most ? " and " : "",
                     ignores_most ? "quant_max" : "", ", so that only the range of the dtype limits results"),
              [=, ignores_least = ignores_least, ignores_most = ignores_most](std::vector<Value>& arguments) {
                const Int* number = std::get_if<Int>(&arguments[*dtype]);
                const auto of = number ? dtype_numbered(*number) : std::nullopt;
                if (!of || !is_integer(*of) || info(*of).bytes > 4) return false;
                bool any = false;
                if (ignores_least) any |= changed_to(arguments[*least], static_cast<Int>(least_integer(*of)));
                if (ignores_most) any |= changed_to(arguments[*most], static_cast<Int>(largest_integer(*of)));
                return any;
              }));
}

// A kernel that subtracts the zero point of each channel or token in the dtype of the input.
void wrapped_differences(const Operator& op, std::vector<Hypothesis>& found) {
  const auto scales = argument_of(op, "scales"), points = argument_of(op, "zero_points");
  if (!is_named(op, "::dequantize_per_") || !scales || !points) return;
  found.push_back(spoiling(op, "subtract zero_points in the dtype of input, where the difference wraps",
                           [=, &op](Tensor& out, const cases::HostCall& call) {
                             const Tensor *input = std::get_if<Tensor>(&call.arguments[0]),
                                          *s = std::get_if<Tensor>(&call.arguments[*scales]),
                                          *z = std::get_if<Tensor>(&call.arguments[*points]);
                             if (!input || !s || !z || !is_integer(input->dtype) || !is_floating(out.dtype) ||
                                 s->count() != z->count() || input->sizes != out.sizes)
                               return false;
                             const std::vector<Int> from = parameters_of(op, call.arguments, out, s->count());
                             const Array<Int> all = read<Int>(*input);
                             const Array<Real> scale = read<Real>(*s), zero = read<Real>(*z);
                             Array<Real> now = read<Real>(out);
                             bool any = false;
                             for (std::size_t k = 0; k < from.size(); ++k) {
                               const Int right = wrapping_subtract(all.data[k], static_cast<Int>(zero[from[k]])),
                                         wrapped = wrap_to(input->dtype, right);
                               if (wrapped == right) continue;
                               now.data[k] = static_cast<Real>(wrapped) * scale[from[k]], any = true;
                             }
                             if (any) write(now, out);
                             return any;
                           }));
  found.back().knows_complex = false;
}

// A quantization whose quotients, computed in float32, are rounded as std::round does.
void quantized(const Operator& op, std::vector<Hypothesis>& found) {
  if (op.name != "quantized_decomposed::quantize_per_tensor.out") return;
  struct Rounding {
    const char* does;
    Real (*of_half)(Real q, Real zero);
  };
  constexpr auto roundings = std::to_array<Rounding>({
      {"round halves away from 0", [](Real q, Real zero) { return std::round(q) + zero; }},
      {"add zero_point before the rounding", [](Real q, Real zero) { return std::nearbyint(q + zero); }},
  });
  for (const Rounding& r : roundings)
    found.push_back(spoiling(op, r.does, [of = r.of_half](Tensor& out, const cases::HostCall& call) {
      const auto* scale = std::get_if<double>(&call.arguments[1]);
      const auto input = numbers_of(call.arguments[0]), zero = numbers_of(call.arguments[2]),
                 least = numbers_of(call.arguments[3]), most = numbers_of(call.arguments[4]);
      if (!scale || !input || !zero || !least || !most || !is_integer(out.dtype)) return false;
      Array<Real> all = read<Real>(out);
      bool any = false;
      for (Int k = 0; k < all.count(); ++k) {
        const auto q = static_cast<Real>(static_cast<float>((*input)[k]) * (1.0F / static_cast<float>(*scale)));
        if (std::fabs(q - std::trunc(q)) != 0.5) continue;
        all[k] = std::clamp(of(q, (*zero)[0]), (*least)[0], std::max((*least)[0], (*most)[0])), any = true;
      }
      if (any) write(all, out);
      return any;
    }));
}

// A quantization that clamps before it adds the zero point.
void clamped_first(const Operator& op, std::vector<Hypothesis>& found) {
  const auto one = argument_of(op, "zero_point"), each = argument_of(op, "zero_points");
  if (!is_named(op, "::quantize_per_") || (!one && !each)) return;
  found.push_back(spoiling(op, "clamp before the zero point is added",
                           [&op, at = one ? *one : *each](Tensor& out, const cases::HostCall& call) {
                             const auto points = numbers_of(call.arguments[at]);
                             std::vector<Value> all = call.arguments;
                             if (Tensor* t = std::get_if<Tensor>(&all[at]))
                               std::ranges::fill(t->bytes, std::byte{});
                             else
                               all[at] = Int{0};
                             const judge::Expectation e = judge::expect(op, all, Budget(cheap));
                             if (!points || points->count() == 0 || e.answer.outcome != Outcome::ok ||
                                 e.outs[0].sizes != out.sizes || !is_integer(out.dtype))
                               return false;
                             const std::vector<Int> from = parameters_of(op, call.arguments, out, points->count());
                             Array<Int> now = read<Int>(e.outs[0]);
                             for (std::size_t k = 0; k < from.size(); ++k)
                               now.data[k] = wrap_to(out.dtype, now.data[k] + static_cast<Int>((*points)[from[k]]));
                             write(now, out);
                             return true;
                           }));
}

// Two numbers of 4 bits in each byte.
void nibbles(const Operator& op, std::vector<Hypothesis>& found) {
  const auto weight = argument_of(op, "weight");
  if (!is_named(op, "_4bit.") || !weight) return;
  found.push_back(
      as_if(op, "exchange the two numbers of each byte of weight", [weight = *weight](std::vector<Value>& all) {
        return change_tensors(all[weight], [](Tensor& t) {
          const Tensor before = t;
          for (std::byte& b : t.bytes) b = (b << 4) | (b >> 4);
          return before.bytes != t.bytes;
        });
      }));
}

// A dequantization that subtracts zero_point from the integer, not from the float32 number.
void dequantized(const Operator& op, std::vector<Hypothesis>& found) {
  if (op.name != "quantized_decomposed::dequantize_per_tensor.out") return;
  for (const bool wraps : {false, true})
    found.push_back(spoiling(op,
                             wraps ? "subtract zero_point in the dtype of input, where it wraps"
                                   : "subtract zero_point from integers before their conversion to float32",
                             [wraps](Tensor& out, const cases::HostCall& call) {
                               const Tensor& input = std::get<Tensor>(call.arguments[0]);
                               const auto* scale = std::get_if<double>(&call.arguments[1]);
                               const auto* zero = std::get_if<Int>(&call.arguments[2]);
                               if (!scale || !zero || !is_integer(input.dtype) || out.dtype != DType::float32)
                                 return false;
                               const Array<Int> all = read<Int>(input);
                               Array<Real> now(out.sizes);
                               const auto centered = [&](Int x) {
                                 const Int n = x - *zero;
                                 return wraps ? wrap_to(input.dtype, n) : n;
                               };
                               for (Int k = 0; k < now.count(); ++k)
                                 now[k] = static_cast<float>(centered(all[k])) * static_cast<float>(*scale);
                               write(now, out);
                               return true;
                             }));
}

// A scale that is chosen for a range without extent.
void ranges(const Operator& op, std::vector<Hypothesis>& found) {
  if (!is_named(op, "::choose_qparams")) return;
  const bool is_of_rows = is_named(op, "per_token");
  const auto differs = [is_of_rows](const cases::HostCall& call) {
    const Tensor* input = std::get_if<Tensor>(&call.arguments[0]);
    if (!call.valid() || !input || info(input->dtype).kind >= Kind::complex || input->count() == 0 ||
        input->rank() == 0)
      return false;
    const Array<Real> all = read<Real>(*input);
    const auto length = static_cast<std::size_t>(is_of_rows ? input->sizes[input->rank() - 1] : input->count());
    for (std::span<const Real> left(all.data); !left.empty(); left = left.subspan(length))
      if (std::ranges::all_of(left.first(length), [](Real x) { return x == 0; })) return true;
    return false;
  };
  const auto is_tenth = [](Real, Real got) { return std::fabs(got - 0.1) < 1e-6; };
  const auto explains = [=](const Answered& a) { return differs(a.call) && has_only(a, is_floating, is_tenth); };
  found.push_back({"return a scale of 0.1 where all numbers are 0, in place of the least scale", About::results, true,
                   false, differs, explains});
}

// A range that leaves out 0 where all numbers are positive, or all negative: from it comes a smaller scale.
void ranges_without_zero(const Operator& op, std::vector<Hypothesis>& found) {
  const auto least = argument_of(op, "eps");
  if (!is_named(op, "::choose_qparams") || is_named(op, "symmetric.") || !least) return;
  // The scales of smaller ranges; none if no range is smaller, or if no scale becomes smaller.
  const auto smaller =
      [at = *least, is_of_rows = is_named(op, "per_token")](const cases::HostCall& call) -> std::optional<Array<Real>> {
    const Tensor* input = std::get_if<Tensor>(&call.arguments[0]);
    const auto eps = number_in(call.arguments[at]);
    if (!call.valid() || !input || info(input->dtype).kind >= Kind::complex || input->count() == 0 || !eps ||
        (is_of_rows && input->rank() == 0))
      return std::nullopt;
    const Array<Real> numbers = read<Real>(*input);
    Array<Real> scales = read<Real>(call.expected.outs[0]);
    const Array<Real> right = scales;
    const Int length = is_of_rows ? input->sizes[input->rank() - 1] : input->count();
    for (Int k = 0; k < scales.count() && (k + 1) * length <= numbers.count(); ++k) {
      const auto [low, high] = std::ranges::minmax(
          std::span(numbers.data).subspan(static_cast<std::size_t>(k * length), static_cast<std::size_t>(length)));
      const Real extent = low > 0 ? (high - low) / high : high < 0 ? (low - high) / low : 1;
      scales[k] = std::max(right[k] * extent, std::min(right[k], real(*eps)));
    }
    return are_near(scales, right, 0) ? std::nullopt : std::optional(std::move(scales));
  };
  const auto explains = [smaller](const Answered& a) {
    const auto scales = smaller(a.call);
    return scales && !a.refused() && !a.outs.empty() && a.outs[0].sizes == scales->sizes &&
           is_floating(a.outs[0].dtype) && are_near(read<Real>(a.outs[0]), *scales, 0);
  };
  found.push_back({"leave 0 out of the range where all numbers have one sign", About::results, true, false,
                   [smaller](const cases::HostCall& call) { return smaller(call).has_value(); }, explains});
}

}  // namespace

std::vector<Hypothesis> mistakes_of_quantization(const Operator& op) {
  std::vector<Hypothesis> found;
  ignored_limits(op, found);
  const std::size_t in_arguments = found.size();
  wrapped_differences(op, found);
  quantized(op, found);
  clamped_first(op, found);
  nibbles(op, found);
  dequantized(op, found);
  ranges(op, found);
  ranges_without_zero(op, found);
  for (Hypothesis& h : std::span(found).subspan(in_arguments)) h.about = About::computation;
  return found;
}

}  // namespace assay::defects
