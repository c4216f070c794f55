#include <algorithm>
#include <array>
#include <utility>

#include "conformance/defects/foretold.h"

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

}  // namespace

std::vector<Hypothesis> mistakes_of_quantization(const Operator& op) {
  std::vector<Hypothesis> found;
  ignored_limits(op, found);
  wrapped_differences(op, found);
  return found;
}

}  // namespace assay::defects
