// Compile and run, with EXECUTORCH the folder of an installed executorch package:
//   g++ -std=c++17 -DC10_USING_CUSTOM_GENERATED_MACROS -DET_EVENT_TRACER_ENABLED -I$EXECUTORCH/include -I$EXECUTORCH/include/executorch/runtime/core/portable_type/c10 reproduction.cpp -o reproduction -L$EXECUTORCH/lib -Wl,-rpath,$EXECUTORCH/lib -Wl,--no-as-needed -lexecutorch -lexecutorch_kernels_optimized -lexecutorch_kernels_quantized -lexecutorch_threadpool && ./reproduction
//
// aten::_log_softmax.out#1ead9985
// aten::_log_softmax.out(Tensor self, int dim, bool half_to_float, *, Tensor(a!) out) -> Tensor(a!)
//
// Calls the kernel in the registry. Exits with 0 if its answer is right and with 1 if it is wrong. A kernel that crashes
// ends this process.

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

// All objects that an EValue points to exist until the process ends.
template <class T>
T* kept(T value) {
  return new T(std::move(value));
}

// Bit patterns in the order in which they are in memory.
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

// Returns a number that the kernel returned as a tensor.
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

// Whether a value is between the lowest and the highest right value. If signs of zeros count, a zero must have the sign of
// an expected zero. NaN is right if it is expected, or if the bounds are the two infinities.
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

// Whether a result is right. Prints the first eight wrong elements. Without `lowest` and `highest` only the expected values are
// right. Without `expected` any values are right.
template <class T>
[[maybe_unused]] bool is_right(const char* name, const Tensor& got, ScalarType dtype,
                               const std::vector<executorch::aten::SizesType>& sizes, bool zeros_have_signs,
                               const Elements& expected = {}, const Elements& low = {}, const Elements& high = {}) {
  if (got.scalar_type() != dtype || !(got.sizes() == ArrayRef<executorch::aten::SizesType>(sizes.data(), sizes.size()))) {
    std::printf("WRONG: %s has a wrong dtype or wrong sizes:", name);
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
    std::printf("WRONG: element %zu of %s, in memory order, is %.17g, but must be %.17g", i, name, value(bits), value(expected[i]));
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
  // self: zeros(2,0,3):bf16
  values.push_back(tensor(ScalarType::BFloat16, {2, 0, 3}, {0, 1, 2}, {}));
  // dim: 1
  values.push_back(EValue(std::int64_t{1}));
  // half_to_float: false
  values.push_back(EValue(false));
  // out
  values.push_back(tensor(ScalarType::BFloat16, {2, 0, 3}, {0, 1, 2}, Elements(0, unwritten)));
  values.emplace_back();  // the value that the kernel returns
  std::puts("expected: zeros(2,0,3):bf16");
  std::fflush(stdout);

  const auto kernel = executorch::runtime::get_op_function_from_registry("aten::_log_softmax.out");
  if (!kernel.ok()) return std::puts("WRONG: the registry has no kernel of this name"), 1;
  std::vector<EValue*> stack;
  for (EValue& v : values) stack.push_back(&v);
  executorch::extension::MallocMemoryAllocator temporary;
  executorch::runtime::KernelRuntimeContext context(nullptr, &temporary);
  (*kernel)(context, {stack.data(), stack.size()});
  const bool refused = context.failure_state() != executorch::runtime::Error::Ok;
  if (refused) return std::puts("WRONG: the kernel refuses it"), 1;
  bool right = true;
  right &= is_right<BFloat16>("out", values[3].toTensor(), ScalarType::BFloat16, {2, 0, 3}, false,
      {});
  if (right) std::puts("right");
  return right ? 0 : 1;
}
