// Recorded calls charge to a budget the memory that they use. This program counts every allocation.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>
#include <set>

#include "conformance/cases/case.h"
#include "reference/call.h"
#include "tests/support/golden.h"
#include "tests/support/part.h"

namespace {

thread_local std::int64_t bytes_in_use = 0, most_in_use = 0;
thread_local std::int64_t allocations_left = -1;  // below 0: unlimited

void* allocate(std::size_t bytes) noexcept {
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  void* const memory = std::malloc(bytes);
  bytes_in_use += static_cast<std::int64_t>(malloc_usable_size(memory));
  most_in_use = std::max(most_in_use, bytes_in_use);
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = allocate(bytes);
  return memory ? memory : throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* memory) noexcept {
  bytes_in_use -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace assay {
namespace charged_calls_test {

const cases::Corpus& corpus() {
  static const cases::Corpus calls(golden_folder() / "operators");
  return calls;
}

// f(operator, arguments) for some recorded calls of every operator.
template <class F>
void each_call(std::size_t most, F f) {
  const Part part;
  std::size_t position = 0;
  for (const cases::RecordedCalls* calls : corpus().matching("")) {
    const std::size_t step = calls->size() / most + 1;
    for (std::size_t i = 0; i < calls->size(); i += step) {
      if (!part.has(position++)) continue;
      const cases::Case c = corpus().make({std::string(calls->op().name), calls->digest(i), {}});
      SCOPED_TRACE(cases::to_text(c.id));
      f(*c.op, c.arguments);
    }
  }
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.dim_order == b.dim_order && a.bytes == b.bytes;
}
bool same(const std::optional<Tensor>& a, const std::optional<Tensor>& b) { return a && b ? same(*a, *b) : !a && !b; }
template <class T>
bool same(const T& a, const T& b) {
  return a == b || a != a;
}
bool same(const Tensors& a, const Tensors& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return same(x, y); });
}
bool all_same(std::span<const Value> a, std::span<const Value> b) {
  return std::ranges::equal(a, b, [](const Value& x, const Value& y) {
    return x.index() == y.index() && std::visit([&]<class T>(const T& v) { return same(v, std::get<T>(y)); }, x);
  });
}

// How a call with a limited budget ends: the rule that it breaks, and whether it left its arguments unchanged.
struct End {
  std::string rule;
  bool unchanged;
};
End end_of(const Operator& op, const std::vector<Value>& arguments, const Budget::Limits& limits) {
  std::vector<Value> own = arguments;
  const Answer answer = call(op, own, Budget(limits));
  return {answer.rule, all_same(own, arguments)};
}

// The tensor with each size `from` replaced by `to`; its elements are repeated.
Tensor enlarged(const Tensor& tensor, Int from, Int to) {
  Dims sizes = tensor.sizes;
  std::ranges::replace(sizes, from, to);
  const Array<Element> elements = read<Element>(tensor);
  Array<Element> repeated(sizes);
  for (Dims i : indices(sizes)) {
    Element& element = repeated(i);
    for (int d = 0; d < i.size(); ++d) i[d] %= tensor.sizes[d];
    element = elements(i);
  }
  Tensor larger = make(tensor.dtype, sizes, tensor.dim_order);
  write(repeated, larger);
  return larger;
}

// For each size in the call: the call with that size, and every equal integer argument, multiplied by `times`.
std::vector<std::vector<Value>> enlarged(const std::vector<Value>& arguments, Int times) {
  std::set<Int> sizes;
  for (const Value& v : arguments)
    if (const Tensor* t = std::get_if<Tensor>(&v)) sizes.insert(t->sizes.begin(), t->sizes.end());
  sizes.erase(0), sizes.erase(1);
  std::vector<std::vector<Value>> calls;
  for (const Int from : sizes) {
    const Int to = from * times;
    for (Value& v : calls.emplace_back(arguments)) {
      if (Tensor* t = std::get_if<Tensor>(&v)) *t = enlarged(*t, from, to);
      if (Tensors* list = std::get_if<Tensors>(&v))
        for (auto& t : *list)
          if (t) t = enlarged(*t, from, to);
      if (Int* n = std::get_if<Int>(&v); n && *n == from) *n = to;
      if (Ints* list = std::get_if<Ints>(&v)) std::ranges::replace(*list, from, to);
    }
  }
  return calls;
}

// `beside` covers the names, values and messages of a call, and the rounding of malloc.
void expect_charged(const Operator& op, std::vector<Value> arguments, Mode mode) {
  constexpr Int beside = 6144;
  const Budget budget({.work = Int{1} << 26});  // longer calls are refused
  const std::int64_t before = most_in_use = bytes_in_use;
  const Answer answer = call(op, arguments, budget, mode);
  const Int allocated = most_in_use - before, charged = budget.used().bytes;
  EXPECT_LE(charged, allocated);
  EXPECT_LE(allocated, charged + charged / 20 + beside);
}

TEST(ChargedCalls, AllocatedMemoryIsCharged) {
  each_call(400, [&](const Operator& op, const std::vector<Value>& arguments) {
    for (const Mode mode : {Mode::value, Mode::magnitude}) expect_charged(op, arguments, mode);
  });
}

TEST(ChargedCalls, AllocatedMemoryOfLargeCallsIsCharged) {
  each_call(2, [&](const Operator& op, const std::vector<Value>& arguments) {
    for (const std::vector<Value>& larger : enlarged(arguments, 8))
      for (const Mode mode : {Mode::value, Mode::magnitude}) expect_charged(op, larger, mode);
  });
}

TEST(ChargedCalls, TheMemoryThatACallChargesSuffices) {
  each_call(40, [](const Operator& op, const std::vector<Value>& arguments) {
    std::vector<Value> own = arguments;
    const Budget usual;
    const Answer answer = call(op, own, usual);
    const auto [bytes, work, output] = usual.used();
    EXPECT_EQ(end_of(op, arguments, {.bytes = bytes, .work = work}).rule, answer.rule);
    if (bytes > 0) {
      const End end = end_of(op, arguments, {.bytes = bytes - 1, .work = work});
      EXPECT_EQ(end.rule, "limits.memory");
      EXPECT_TRUE(end.unchanged);
    }
    if (work > 0) {
      const End end = end_of(op, arguments, {.bytes = bytes, .work = work - 1});
      EXPECT_EQ(end.rule, "limits.work");
      EXPECT_TRUE(end.unchanged);
    }
  });
}

// Fails each allocation of a call in turn, together with all later allocations.
TEST(ChargedCalls, AnAllocationThatFailsIsARefusal) {
  each_call(2, [](const Operator& op, const std::vector<Value>& arguments) {
    bool failed = true;
    for (std::int64_t n = 0; failed; ++n) {
      std::vector<Value> own = arguments;
      const Budget budget;
      allocations_left = n;
      const Answer answer = call(op, own, budget);
      failed = allocations_left == 0;
      allocations_left = -1;
      if (answer.outcome == Outcome::ok) break;
      EXPECT_TRUE(all_same(own, arguments));
      EXPECT_EQ(budget.left().bytes, Budget::Limits().bytes);
    }
  });
}

}  // namespace charged_calls_test
}  // namespace assay
