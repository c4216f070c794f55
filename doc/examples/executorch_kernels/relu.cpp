// A kernel for float32 tensors of equal layout, registered with ExecuTorch's macros.
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/kernel/kernel_includes.h>

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;

Tensor& relu_out(executorch::runtime::KernelRuntimeContext& context, const Tensor& in, Tensor& out) {
  ET_KERNEL_CHECK(context, in.scalar_type() == ScalarType::Float && out.scalar_type() == ScalarType::Float,
                  NotSupported, out);
  ET_KERNEL_CHECK(context, executorch::runtime::tensors_have_same_dim_order(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, in.sizes()) == Error::Ok, InvalidArgument, out);
  const float* x = in.const_data_ptr<float>();
  float* y = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < in.numel(); ++i) y[i] = x[i] < 0 ? 0 : x[i];
  return out;
}
EXECUTORCH_LIBRARY(aten, "relu.out", relu_out);
