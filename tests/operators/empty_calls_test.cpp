// Calls with empty tensors whose other sizes are huge. Each call ends at once, with a result or a refusal.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "conformance/cases/case.h"
#include "conformance/text/literal.h"
#include "reference/call.h"
#include "tests/support/golden.h"
#include "tests/support/part.h"

namespace {

// Comparisons in the reference; each iteration of a loop has one. Sanitized builds count them.
std::uint64_t steps = 0;
std::string running;  // the current call; empty in the other tests of this program, which have no limit of steps

void step() {
  constexpr std::uint64_t most = 100'000'000;
  if (running.empty() || ++steps < most) return;
  std::fprintf(stderr, "%s does not end\n", running.c_str());
  std::_Exit(1);
}

}  // namespace

extern "C" {
void __sanitizer_cov_trace_cmp1(std::uint8_t, std::uint8_t) { step(); }
void __sanitizer_cov_trace_cmp2(std::uint16_t, std::uint16_t) { step(); }
void __sanitizer_cov_trace_cmp4(std::uint32_t, std::uint32_t) { step(); }
void __sanitizer_cov_trace_cmp8(std::uint64_t, std::uint64_t) { step(); }
void __sanitizer_cov_trace_const_cmp1(std::uint8_t, std::uint8_t) { step(); }
void __sanitizer_cov_trace_const_cmp2(std::uint16_t, std::uint16_t) { step(); }
void __sanitizer_cov_trace_const_cmp4(std::uint32_t, std::uint32_t) { step(); }
void __sanitizer_cov_trace_const_cmp8(std::uint64_t, std::uint64_t) { step(); }
}

namespace assay {
namespace empty_calls_test {

constexpr Int large = (Int{1} << 31) - 1, huge = Int{1} << 62, largest = std::numeric_limits<Int>::max();

// f(tensor) for every tensor.
template <class F>
void each_tensor(std::vector<Value>& arguments, F f) {
  for (Value& v : arguments) {
    if (Tensor* t = std::get_if<Tensor>(&v)) f(*t);
    if (Tensors* list = std::get_if<Tensors>(&v))
      for (auto& t : *list)
        if (t) f(*t);
  }
}

// f(n) for every integer argument, and for every integer in a list.
template <class F>
void each_integer(std::vector<Value>& arguments, F f) {
  for (Value& v : arguments) {
    if (Int* n = std::get_if<Int>(&v)) f(*n);
    if (Ints* list = std::get_if<Ints>(&v)) std::ranges::for_each(*list, f);
  }
}

bool has(const Dims& sizes, Int n) { return std::ranges::find(sizes, n) != sizes.end(); }

// Makes each tensor empty in dimension `zero`, counted from the end. Its other sizes take the values of `others` in
// turn.
std::vector<Value> with_sizes(std::vector<Value> arguments, int zero, std::initializer_list<Int> others) {
  each_tensor(arguments, [&](Tensor& t) {
    if (t.rank() == 0) return;
    auto next = others.begin();
    for (Int& n : t.sizes) n = *next, next = next + 1 == others.end() ? others.begin() : next + 1;
    t.sizes[std::max(t.rank() - 1 - zero, 0)] = 0;
    t.bytes.clear();
  });
  return arguments;
}

// Replaces each size `zero` by 0. Replaces by `other` every size that occurs only in tensors which thereby become
// empty. With `integers`, integer arguments are replaced likewise. Sizes that matched before still match.
std::vector<Value> renumbered(std::vector<Value> arguments, Int zero, Int other, bool integers) {
  std::set<Int> kept;
  each_tensor(arguments, [&](const Tensor& t) {
    if (!has(t.sizes, zero)) kept.insert(t.sizes.begin(), t.sizes.end());
  });
  const auto renumber = [&](Int& n) { n = n == zero ? 0 : kept.contains(n) || n < 2 ? n : other; };
  each_tensor(arguments, [&](Tensor& t) {
    if (has(t.sizes, zero)) t.bytes.clear();
    std::ranges::for_each(t.sizes, renumber);
  });
  if (integers) each_integer(arguments, renumber);
  return arguments;
}

std::vector<std::vector<Value>> emptied(std::vector<Value> arguments) {
  std::vector<std::vector<Value>> calls;
  for (const int zero : {0, 1, 2, 3})
    for (const auto& others : {std::initializer_list<Int>{large}, {large, Int{1} << 20}, {huge}, {largest}, {large, 1}})
      calls.push_back(with_sizes(arguments, zero, others));
  std::set<Int> sizes{4};  // some integer, for operators without tensors
  each_tensor(arguments, [&](const Tensor& t) { sizes.insert(t.sizes.begin(), t.sizes.end()); });
  if (sizes.size() == 1) each_integer(arguments, [&](Int n) { sizes.insert(n); });
  for (const Int zero : sizes)
    for (const Int other : {large, huge, largest})
      for (const bool integers : {false, true}) calls.push_back(renumbered(arguments, zero, other, integers));
  return calls;
}

// The cost of a call that visits a million elements.
constexpr Int little = 1 << 20;

TEST(EmptyCalls, TakeNoTime) {
  const cases::Corpus corpus(golden_folder() / "operators");
  const Part part;
  std::size_t position = 0;
  std::uint64_t all_steps = 0;
  for (const cases::RecordedCalls* calls : corpus.matching("")) {
    const Operator& op = calls->op();
    for (std::size_t i = 0; i < calls->size(); i += calls->size() / 12 + 1) {
      if (!part.has(position++)) continue;
      cases::Case c = corpus.make({std::string(op.name), calls->digest(i), {}});
      for (std::size_t k = 0; k < c.arguments.size(); ++k)
        if (op.arguments[k].out) c.arguments[k] = std::monostate();
      for (std::vector<Value>& arguments : emptied(c.arguments)) {
        running = cases::to_text(c.id);
        each_tensor(arguments, [](const Tensor& t) { running += " " + describe(t); });
        each_integer(arguments, [](Int n) { running += " " + std::to_string(n); });
        const Budget budget({.bytes = 4 * little, .work = 8 * little});
        steps = 0;
        const Answer answer = call(op, arguments, budget);
        const auto [bytes, work, output] = budget.used();
        EXPECT_TRUE(work < little || answer.outcome == Outcome::exhausted) << running << ": " << work << " units";
        EXPECT_LT(steps, static_cast<std::uint64_t>(little + bytes + 4 * work))
            << running;  // zeroing the bytes counts, too
        all_steps += steps;
      }
    }
  }
  running.clear();
  EXPECT_EQ(all_steps > 0, ASSAY_SANITIZED);
}

// A result with a size of 0 is accepted for any other sizes.
TEST(EmptyCalls, GiveEmptyResults) {
  const auto empty = [](const Dims& sizes) { return make(DType::float32, sizes); };
  const auto sizes_of = [](std::string_view name, std::vector<Value> arguments) {
    const Operator& op = *find_operator(name);
    arguments.resize(op.arguments.size());
    const Answer answer = call(op, arguments, Budget({.bytes = 4096, .work = 1000}));
    EXPECT_EQ(answer.message, "");
    const Tensor* out = std::get_if<Tensor>(&arguments[op.arguments.size() - op.outs()]);
    return out ? out->sizes : Dims{-1};
  };
  const Value none;
  constexpr Int wide = Int{1} << 59;  // strides have 64 bits
  EXPECT_EQ(sizes_of("aten::sum.IntList_out", {empty({0, large}), Ints{1}, false, none}), (Dims{0}));
  EXPECT_EQ(sizes_of("aten::amax.out", {empty({wide, large, 0}), Ints{0, 1}, true}), (Dims{1, 1, 0}));
  EXPECT_EQ(sizes_of("aten::cumsum.out", {empty({wide, 0}), Int{1}, none}), (Dims{wide, 0}));
  EXPECT_EQ(sizes_of("aten::_softmax.out", {empty({large, 1 << 20, 0}), Int{0}, false}), (Dims{large, 1 << 20, 0}));
  EXPECT_EQ(sizes_of("aten::_log_softmax.out", {empty({0, large, 7}), Int{1}, false}), (Dims{0, large, 7}));
  EXPECT_EQ(sizes_of("aten::sort.values", {empty({0, Int{1} << 40}), Int{-1}, false}), (Dims{0, Int{1} << 40}));
  EXPECT_EQ(sizes_of("aten::prod.int_out", {empty({large, 0, 3}), Int{0}, false, none}), (Dims{0, 3}));
  EXPECT_EQ(sizes_of("aten::glu.out", {empty({large, 1 << 20, 0}), Int{1}}), (Dims{large, 1 << 19, 0}));
  EXPECT_EQ(sizes_of("aten::fmod.Tensor_out", {empty({wide, 0}), empty({0})}), (Dims{wide, 0}));
  EXPECT_EQ(sizes_of("aten::add.out", {empty({0, wide}), empty({0, wide}), Int{1}}), (Dims{0, wide}));
  EXPECT_EQ(sizes_of("aten::mm.out", {empty({wide, 0}), empty({0, 0})}), (Dims{wide, 0}));
  EXPECT_EQ(sizes_of("aten::bmm.out", {empty({wide, 2, 0}), empty({wide, 0, 0})}), (Dims{wide, 2, 0}));
  EXPECT_EQ(sizes_of("aten::permute_copy.out", {empty({wide, 0, 3}), Ints{2, 0, 1}}), (Dims{3, wide, 0}));
  EXPECT_EQ(sizes_of("aten::cat.out", {Tensors{empty({wide, 0}), empty({wide, 0})}, Int{1}}), (Dims{wide, 0}));
  EXPECT_EQ(sizes_of("aten::full.out", {Ints{wide, 0}, Int{1}}), (Dims{wide, 0}));
}

}  // namespace empty_calls_test
}  // namespace assay
