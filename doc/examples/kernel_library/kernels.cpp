// Kernels in C++: templates over the type of the elements:
//
//   c++ -std=c++17 -O2 -shared -fPIC -I conformance/api kernels.cpp -o libkernels.so
//
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <type_traits>

#include "kernel_library.h"

namespace {

constexpr assay_kernel_reply ok{ASSAY_KERNEL_OK, nullptr};
constexpr assay_kernel_reply other_dtype{ASSAY_KERNEL_UNSUPPORTED, "tensors must all be of float32, float64 or int32"};
constexpr assay_kernel_reply other_layout{ASSAY_KERNEL_UNSUPPORTED, "tensors must lie alike"};
constexpr assay_kernel_reply other_sizes{ASSAY_KERNEL_INVALID, "the result does not fit in out"};

// The number of a dtype (spec/dtypes.yaml).
template <class T>
constexpr int number = -1;
template <>
constexpr int number<std::int32_t> = 3;
template <>
constexpr int number<float> = 6;
template <>
constexpr int number<double> = 7;

using Tensor = assay_kernel_tensor;

std::int64_t count(const Tensor& t) {
  std::int64_t elements = 1;
  std::for_each_n(t.sizes, t.rank, [&](std::int64_t size) { elements *= size; });
  return elements;
}

bool lie_alike(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && std::equal(a.dim_order, a.dim_order + a.rank, b.dim_order, b.dim_order + b.rank);
}

// out = f(self), element by element in memory order.
template <class T, class F>
assay_kernel_reply map_elements(const assay_kernel_host& host, const Tensor& self, Tensor& out, F f) {
  if (!lie_alike(self, out)) return other_layout;
  if (!host.resize(host.context, &out, self.rank, self.sizes)) return other_sizes;
  const T* x = static_cast<const T*>(self.data);
  std::transform(x, x + count(self), static_cast<T*>(out.data), f);
  return ok;
}

// Calls f<T>(host, self, out), where T is the type of self's elements.
template <class F>
assay_kernel_reply unary(const assay_kernel_host& host, assay_kernel_value* values, F f) {
  const Tensor& self = values[0].as.tensor;
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    return map_elements<T>(host, self, values[1].as.tensor, [f](T x) { return static_cast<T>(f(x)); });
  };
  if (self.dtype == number<std::int32_t>) return run(std::int32_t{});
  if (self.dtype == number<float>) return run(float{});
  if (self.dtype == number<double>) return run(double{});
  return other_dtype;
}

using Kernel = assay_kernel_reply (*)(const assay_kernel_host&, assay_kernel_value*);

const std::map<std::string, Kernel, std::less<>> kernels{
    {"aten::relu.out",
     [](const assay_kernel_host& host, assay_kernel_value* values) {
       return unary(host, values, [](auto x) { return x < 0 ? decltype(x){0} : x; });
     }},
    {"aten::floor.out",
     [](const assay_kernel_host& host, assay_kernel_value* values) {
       return unary(host, values, [](auto x) { return std::is_integral_v<decltype(x)> ? x : std::floor(x); });
     }},
};

const char* kernel(void*, std::size_t i) {
  return i < kernels.size() ? std::next(kernels.begin(), static_cast<std::ptrdiff_t>(i))->first.c_str() : nullptr;
}

int has(void*, const char* op) { return kernels.count(op) > 0; }

assay_kernel_reply call(void*, const char* op, const assay_kernel_host* host, assay_kernel_value* values, std::size_t) {
  return kernels.find(op)->second(*host, values);
}

}  // namespace

const assay_kernel_library* assay_kernel_library_v1() {
  static const assay_kernel_library library{
      ASSAY_KERNEL_LIBRARY_VERSION, "example in C++", nullptr, nullptr, 0, kernel, has, call, nullptr, nullptr};
  return &library;
}
