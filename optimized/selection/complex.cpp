#include <algorithm>

#include "kernels.gen.h"
#include "optimized/kernels/complex.h"
#include "optimized/selection/layout.h"

// Elementwise kernels of complex numbers whose parts are floats. All operands have the sizes and the layout of the out.
namespace assay::optimized {
namespace {

bool is_complex64(const Value& v) { return v.kind == ValueKind::tensor && v.tensor->dtype == DType::complex64; }

bool has_layout_of(const Tensor& t, const Tensor& first) {
  return t.rank == first.rank && std::equal(t.dim_order, t.dim_order + t.rank, first.dim_order);
}

template <std::size_t operands, DType result>
bool accepts(const Call& call) {
  if (!call.set ||
      !std::ranges::all_of(call.arguments.first(operands), [](const Value* v) { return is_complex64(*v); }))
    return false;
  return call.out().dtype == result && has_layout_of(call.out(), call.tensor(0)) &&
         has_layout_of(call.tensor(operands - 1), call.tensor(0));
}

// Gives the out the sizes of the operands. Returns false if they differ.
template <std::size_t operands>
bool resize_out(const Call& call) {
  return std::ranges::equal(call.tensor(0).shape(), call.tensor(operands - 1).shape()) &&
         resize(call.out(), call.tensor(0).shape());
}

bool run_product(const Step& step, Execution&) {
  const Call& call = step.call;
  if (!resize_out<2>(call)) return false;
  const auto elements = [&](const Tensor& t) { return reinterpret_cast<float*>(t.data); };
  kernels::multiply_complex(*call.set, elements(call.tensor(0)), elements(call.tensor(1)), elements(call.out()),
                            static_cast<std::size_t>(call.out().count()));
  return true;
}

bool run_size(const Step& step, Execution&) {
  const Call& call = step.call;
  if (!resize_out<1>(call)) return false;
  kernels::complex_sizes(*call.set, reinterpret_cast<const float*>(call.tensor(0).data), call.out().elements<float>(),
                         static_cast<std::size_t>(call.out().count()));
  return true;
}

}  // namespace

constexpr Kernel complex_product_f32{"complex_product_f32", accepts<2, DType::complex64>, nullptr, run_product};
constexpr Kernel complex_size_f32{"complex_size_f32", accepts<1, DType::float32>, nullptr, run_size};

}  // namespace assay::optimized
