// Compile and run, with EXECUTORCH the folder of an installed executorch package:
//   g++ -std=c++17 -DC10_USING_CUSTOM_GENERATED_MACROS -DET_EVENT_TRACER_ENABLED -I$EXECUTORCH/include -I$EXECUTORCH/include/executorch/runtime/core/portable_type/c10 reproduction.cpp -o reproduction -L$EXECUTORCH/lib -Wl,-rpath,$EXECUTORCH/lib -Wl,--no-as-needed -lexecutorch -lexecutorch_kernels_optimized -lexecutorch_kernels_quantized -lexecutorch_threadpool && ./reproduction
//
// aten::native_layer_norm.out#85e429da
// aten::native_layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))
//
// Makes this call of the kernel in the registry. Exits with 1 where its answer is wrong, with 0 where it is right; a
// kernel that dies takes the process with it.

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::EValue;

// What an EValue points to lives as long as the process.
template <class T>
T* kept(T value) {
  return new T(std::move(value));
}

// Bit patterns, one after the other as they lie in memory.
using Elements = std::vector<std::uint64_t>;

constexpr std::uint64_t unwritten = 0xbebebebebebebebe;

EValue tensor(ScalarType dtype, std::vector<executorch::aten::SizesType> sizes,
              std::vector<executorch::aten::DimOrderType> dim_order, const Elements& elements) {
  const std::size_t bytes = executorch::runtime::elementSize(dtype);
  auto* data = new char[elements.size() * bytes + 1];
  for (std::size_t i = 0; i < elements.size(); ++i) std::memcpy(data + i * bytes, &elements[i], bytes);
  auto* s = kept(std::move(sizes));
  auto* order = kept(std::move(dim_order));
  auto* strides = kept(std::vector<executorch::aten::StridesType>(s->size()));
  executorch::runtime::dim_order_to_stride_nocheck(s->data(), order->data(), s->size(), strides->data());
  return Tensor(new executorch::aten::TensorImpl(dtype, static_cast<ssize_t>(s->size()), s->data(), data, order->data(),
                                                 strides->data(), executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND));
}

template <class T>
EValue boxed(std::vector<EValue> values, T unset) {
  auto* pointers = new std::vector<EValue*>;
  for (const EValue& v : values) pointers->push_back(kept(v));
  return kept(BoxedEvalueList<T>(pointers->data(), kept(std::vector<T>(values.size() + 1, unset))->data(),
                                 static_cast<int>(values.size())));
}

[[maybe_unused]] EValue string(const char* text) { return kept(ArrayRef<char>(text, std::strlen(text))); }
[[maybe_unused]] EValue integers(const std::vector<std::int64_t>& numbers) {
  return boxed<std::int64_t>(std::vector<EValue>(numbers.begin(), numbers.end()), 0);
}
[[maybe_unused]] EValue tensors(std::vector<EValue> list) { return boxed(std::move(list), Tensor(nullptr)); }
[[maybe_unused]] EValue optional_tensors(std::vector<EValue> list) {
  return boxed(std::move(list), std::optional<Tensor>());
}
template <class T>
[[maybe_unused]] EValue plain(std::initializer_list<T> items) {
  auto* copy = new T[items.size() + 1];
  std::copy(items.begin(), items.end(), copy);
  return kept(ArrayRef<T>(copy, items.size()));
}

// A number that the kernel returned, as a tensor.
[[maybe_unused]] Tensor number(const EValue& value) {
  std::uint64_t bits = value.isBool() ? value.toBool() : value.isInt() ? static_cast<std::uint64_t>(value.toInt()) : 0;
  const double real = value.isDouble() ? value.toDouble() : 0;
  if (value.isDouble()) std::memcpy(&bits, &real, sizeof bits);
  const ScalarType dtype = value.isBool() ? ScalarType::Bool : value.isInt() ? ScalarType::Long : ScalarType::Double;
  return tensor(dtype, {}, {}, {bits}).toTensor();
}

template <class T>
T element(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

// From the lowest to the highest; a zero only with the sign of an expected zero, where signs count; NaN where it is
// expected, and where it is anything between the infinities.
template <class T>
bool is_right(std::uint64_t got, bool zeros_have_signs, std::uint64_t expected, std::uint64_t lowest,
              std::uint64_t highest) {
  if (got == expected) return true;
  if constexpr (std::numeric_limits<T>::is_integer) return false;
  const double value = element<T>(got), want = element<T>(expected), low = element<T>(lowest), high = element<T>(highest);
  if (std::isinf(low) && low == -high) return true;
  if (std::isnan(want)) return std::isnan(value);
  const bool other_zero = value == 0 && want == 0 && std::signbit(value) != std::signbit(want);
  return low <= value && value <= high && !(zeros_have_signs && other_zero);
}

// Whether all of a result is right; says what is not. The expected answers alone are right where no others are given, any
// where not even they are.
template <class T>
[[maybe_unused]] bool is_right(const char* name, const Tensor& got, ScalarType dtype,
                               const std::vector<executorch::aten::SizesType>& sizes, bool zeros_have_signs,
                               const Elements& expected = {}, const Elements& low = {}, const Elements& high = {}) {
  if (got.scalar_type() != dtype || !(got.sizes() == ArrayRef<executorch::aten::SizesType>(sizes.data(), sizes.size()))) {
    std::printf("WRONG: %s has another dtype or other sizes:", name);
    for (const auto n : got.sizes()) std::printf(" %d", static_cast<int>(n));
    std::printf("\n");
    return false;
  }
  const Elements &lowest = low.empty() ? expected : low, &highest = high.empty() ? expected : high;
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size() && wrong < 8; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(got.const_data_ptr()) + i * sizeof(T), sizeof(T));
    if (is_right<T>(bits, zeros_have_signs, expected[i], lowest[i], highest[i])) continue;
    const auto value = [](std::uint64_t b) { return static_cast<double>(element<T>(b)); };
    std::printf("WRONG: element %zu of %s in memory is %.17g, but must be %.17g", i, name, value(bits), value(expected[i]));
    if (highest[i] != lowest[i]) std::printf(", or from %.17g to %.17g", value(lowest[i]), value(highest[i]));
    std::puts("");
    ++wrong;
  }
  return wrong == 0;
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  std::vector<EValue> values;
  // input: [-8.48]:f16
  values.push_back(tensor(ScalarType::Half, {1}, {0}, {0xc83d}));
  // normalized_shape: [1]
  values.push_back(integers({1}));
  // weight: none
  values.push_back(EValue());
  // bias: none
  values.push_back(EValue());
  // eps: 1e-05
  values.push_back(EValue(1e-05));
  // out0
  values.push_back(tensor(ScalarType::Half, {1}, {0}, Elements(1, unwritten)));
  // out1
  values.push_back(tensor(ScalarType::Half, {1}, {0}, Elements(1, unwritten)));
  // out2
  values.push_back(tensor(ScalarType::Half, {1}, {0}, Elements(1, unwritten)));
  values.emplace_back();  // what the kernel returns
  std::puts("expected: [0]:f16\n[-8.48]:f16\n[316.2]:f16");
  std::fflush(stdout);

  const auto kernel = executorch::runtime::get_op_function_from_registry("aten::native_layer_norm.out");
  if (!kernel.ok()) return std::puts("WRONG: there is no kernel of this name"), 1;
  std::vector<EValue*> stack;
  for (EValue& v : values) stack.push_back(&v);
  executorch::extension::MallocMemoryAllocator temporary;
  executorch::runtime::KernelRuntimeContext context(nullptr, &temporary);
  (*kernel)(context, {stack.data(), stack.size()});
  const bool refused = context.failure_state() != executorch::runtime::Error::Ok;
  if (refused) return std::puts("WRONG: the kernel refuses it"), 1;
  bool right = true;
  right &= is_right<Half>("out0", values[5].toTensor(), ScalarType::Half, {1}, false,
      {0x0000},
      {0x8fda},
      {0x0fda});
  right &= is_right<Half>("out1", values[6].toTensor(), ScalarType::Half, {1}, false,
      {0xc83d});
  right &= is_right<Half>("out2", values[7].toTensor(), ScalarType::Half, {1}, false,
      {0x5cf1});
  if (right) std::puts("right");
  return right ? 0 : 1;
}
