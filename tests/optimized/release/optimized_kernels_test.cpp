#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/adapters/optimized/library.h"
#include "conformance/cases/case.h"
#include "conformance/judge/judge.h"
#include "conformance/runner/run_case.h"
#include "format/operator_roles.h"
#include "tests/support/golden.h"
#include "tests/support/tensors.h"

// Judges every recorded call that a kernel of the optimized runtime accepts, as the answer of any testee.
namespace assay {
namespace optimized_kernels_test {

const cases::Corpus& corpus() {
  static const cases::Corpus all(golden_folder() / "operators");
  return all;
}

using Operands = adapters::OptimizedLibrary::Operands;

// What a kernel knows of its operands, and the instruction set; by default the set of this machine.
struct Way {
  Operands operands;
  std::string words, set = {};
};

std::vector<Way> all_ways() {
  std::vector<Way> all{{Operands::constant, "of constants"},
                       {Operands::fixed, "of fixed sizes"},
                       {Operands::moving, "of sizes that move"}};
  for (std::size_t i = 0; i < std::size(kernels::instruction_sets); ++i) {
    const auto set = static_cast<kernels::InstructionSet>(i);
    const std::string name = kernels::traits(set).name;
    const auto best = kernels::best_instruction_set();
    if (set == best || !kernels::is_compiled(set)) continue;
    // No call of one operator uses the tiles; its kernel is that of avx512.
    if (set == kernels::InstructionSet::amx ||
        (set == kernels::InstructionSet::avx512 && best == kernels::InstructionSet::amx))
      continue;
    if (kernels::is_supported(set))
      all.push_back({Operands::constant, "of constants, for " + name, name});
    else
      fmt::print("not run: this machine does not have {}\n", name);
  }
  return all;
}
const std::vector<Way> ways = all_ways();

class OptimizedKernelsOf : public testing::TestWithParam<std::string> {};

TEST_P(OptimizedKernelsOf, KeepTheSpecification) {
  const cases::RecordedCalls* calls = corpus().calls(GetParam());
  ASSERT_TRUE(calls) << "nothing is recorded";
  for (const auto& [operands, words, set] : ways) {
    adapters::OptimizedLibrary kernels(operands, false, {set});
    std::optional<sandbox::Probe> probe;
    std::size_t taken = 0, of_low_quality = 0, without_kernel = 0;
    for (std::size_t i = 0; i < calls->size(); ++i) {
      if (!probe || probe->is_spent()) probe.emplace(kernels);
      const cases::CaseId id{GetParam(), calls->digest(i), {}};
      const verdict::Record r =
          runner::run_case(corpus(), *probe, contract::Contract(), id, runner::Detail::all).record;
      without_kernel += r.verdict == verdict::Verdict::unsupported && !calls->at(i).refused;
      if (r.verdict == verdict::Verdict::unsupported) continue;
      ++taken, of_low_quality += r.verdict == verdict::Verdict::quality;
      EXPECT_TRUE(r.verdict == verdict::Verdict::pass || r.verdict == verdict::Verdict::quality)
          << r.case_id << ", " << words << ": " << verdict::name(r.failure) << ": " << r.message << "\nexpected "
          << r.expected << "\ngot " << r.got << "\nbound " << r.bound;
    }
    fmt::print("{}, {}: {} of {} calls, {} of low quality\n", GetParam(), words, taken, calls->size(), of_low_quality);
    EXPECT_GT(taken, 0u) << "no kernel takes a call";
    EXPECT_EQ(without_kernel, 0u) << words << ": valid calls that no kernel does";
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, OptimizedKernelsOf, testing::ValuesIn(adapters::OptimizedLibrary().kernels()),
                         test_name);

TEST(OptimizedKernels, DoEachOperator) {
  const std::vector<std::string> all = adapters::OptimizedLibrary().kernels();
  for (const cases::RecordedCalls* calls : corpus().matching(""))
    EXPECT_NE(std::ranges::find(all, calls->op().name), all.end()) << calls->op().name;
}

// Numbers without a pattern that a block of a kernel could repeat, of both signs unless `positive`.
Tensor drawn(const Dims& sizes, const Dims& dim_order = {}, bool positive = false) {
  std::vector<double> values(static_cast<std::size_t>(count(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = std::sin(static_cast<double>(i * i + 3 * i + 1)) * 4;
    values[i] = positive ? std::fabs(x) : x;
  }
  return tensor(DType::float32, sizes, dim_order.size() > 0 ? dim_order : Dims::counting(sizes.size()), values);
}

struct LargeCall {
  const char* op;
  std::vector<Value> arguments;  // without the outs
};

// Sizes beyond what kernels compute at once (16, 32, 64, 256, 512), and a storage offset; no recorded call has these.
std::vector<LargeCall> large_calls() {
  const Dims last{0, 2, 3, 1}, image{2, 70, 9, 11}, rows{3, 1100};
  const Value none = std::monostate(), yes = true, no = false;
  const auto ints = [](std::initializer_list<Int> all) { return Value(Ints(all)); };
  std::vector<LargeCall> calls;
  for (const Dims& order : {Dims{0, 1, 2, 3}, last}) {
    const Value x = drawn(image, order), y = drawn({2, 70, 1, 1}, order);
    calls.push_back({"aten::mul.out", {x, y}});
    calls.push_back({"aten::add.out", {y, x, Int{2}}});
    calls.push_back({"aten::add.out", {x, drawn(image), Int{1}}});
    calls.push_back({"aten::gelu.out", {x, std::string("none")}});
    calls.push_back({"aten::relu.out", {x}});
    calls.push_back({"aten::maximum.out", {x, drawn({9, 11})}});
    calls.push_back({"aten::_softmax.out", {x, Int{1}, no}});
    calls.push_back({"aten::max_pool2d_with_indices.out", {x, ints({3}), ints({2}), ints({1}), ints({1}), no}});
    calls.push_back({"aten::avg_pool2d.out", {x, ints({3, 2}), ints({2}), ints({1}), yes, no, none}});
    calls.push_back({"aten::_adaptive_avg_pool2d.out", {x, ints({4, 3})}});
    calls.push_back({"dim_order_ops::_clone_dim_order.out", {x, no, ints({0, 1, 2, 3})}});
    calls.push_back({"aten::permute_copy.out", {x, ints({3, 1, 0, 2})}});
    calls.push_back({"aten::cat.out", {Tensors{std::get<Tensor>(x), drawn({2, 3, 9, 11}, order)}, Int{1}}});
    for (const Value& dims : {ints({2, 3}), ints({1}), ints({0, 2}), ints({3})}) {
      calls.push_back({"aten::mean.out", {drawn(image, order, true), dims, yes, none}});
      calls.push_back({"aten::sum.IntList_out", {x, dims, no, none}});
      calls.push_back({"aten::amax.out", {x, dims, yes}});
    }
  }
  const Value x = drawn(rows);
  calls.push_back({"aten::sum.IntList_out", {x, ints({1}), no, none}});
  calls.push_back({"aten::sum.IntList_out", {drawn({1100, 3}, {}, true), ints({0}), no, none}});
  calls.push_back({"aten::_softmax.out", {x, Int{1}, no}});
  calls.push_back({"aten::_softmax.out", {drawn({3, 40, 1}), Int{1}, no}});
  calls.push_back({"aten::_log_softmax.out", {x, Int{1}, no}});
  calls.push_back({"aten::native_layer_norm.out", {x, ints({1100}), drawn({1100}), drawn({1100}), 1e-5}});
  calls.push_back({"aten::mul.Scalar_out", {x, 0.3}});
  calls.push_back({"aten::eq.Scalar_out", {x, 0.3}});
  calls.push_back({"aten::transpose_copy.int_out", {x, Int{0}, Int{1}}});
  calls.push_back({"aten::slice_copy.Tensor_out", {x, Int{1}, Int{1}, none, Int{2}}});
  calls.push_back({"aten::as_strided_copy.out", {x, ints({3, 500}), ints({1100, 2}), Int{7}}});
  // Windows of a row are computed together.
  const Value wide = drawn({1, 2, 5, 75});
  calls.push_back({"aten::max_pool2d_with_indices.out", {wide, ints({3}), ints({2}), ints({1}), ints({1}), no}});
  calls.push_back({"aten::avg_pool2d.out", {wide, ints({3}), ints({2}), ints({1}), yes, no, none}});
  return calls;
}

// Judges a call without outs. Returns false if the reference refuses the call.
bool expect_right(const Operator& op, std::vector<Value> arguments, const Way& way) {
  arguments.resize(op.arguments.size());
  const judge::Expectation expected = judge::expect(op, arguments);
  if (expected.answer.outcome != Outcome::ok) return false;
  adapters::OptimizedLibrary kernels(way.operands, false, {way.set});
  const sandbox::Observation seen =
      sandbox::Probe(kernels).observe(op, arguments, sandbox::plan_outs(op, expected.arguments));
  EXPECT_EQ(seen.conduct, verdict::Class::none) << seen.violation;
  const judge::Judgement j =
      judge::judge(op, expected.arguments, expected,
                   {seen.reply.outcome, seen.reply.message, judge::Refusals::unsupported, seen.outs});
  EXPECT_TRUE(j.verdict == verdict::Verdict::pass || j.verdict == verdict::Verdict::quality) << j.message;
  if (j.verdict == verdict::Verdict::quality) fmt::print("{}, {}: low quality: {}\n", op.name, way.words, j.message);
  return true;
}

TEST(OptimizedKernels, KeepTheSpecificationBeyondTheirBlocks) {
  for (const Way& way : ways)
    for (const LargeCall& large : large_calls()) {
      SCOPED_TRACE(testing::Message() << large.op << ", " << way.words);
      EXPECT_TRUE(expect_right(*find_operator(large.op), large.arguments, way));
    }
}

// An in-place form gets recorded calls of its operator, without outs.
TEST(OptimizedKernels, DoInPlaceForms) {
  constexpr std::size_t most = 12;
  for (const Operator& form : in_place_table()) {
    const auto roles = std::ranges::lower_bound(format::all_roles(), form.name, {}, &format::OperatorRoles::name);
    const cases::RecordedCalls& calls = *corpus().calls(std::string(roles->operator_with_out()->name));
    for (const Way& way : ways) {
      if (!way.set.empty()) continue;
      SCOPED_TRACE(testing::Message() << form.name << ", " << way.words);
      std::size_t done = 0;
      for (std::size_t i = 0; i < calls.size() && done < most; i += 1 + calls.size() / (8 * most)) {
        std::vector<Value> arguments = calls.at(i).arguments;
        arguments.resize(arguments.size() - 1);
        done += expect_right(form, arguments, way);
      }
      EXPECT_GT(done, 0u) << "no recorded call has an in-place form";
      if (form.name == "aten::addmm_")
        EXPECT_TRUE(expect_right(form, {drawn({70, 50}), drawn({70, 300}), drawn({300, 50}), Int{1}, Int{1}}, way));
    }
  }
}

// One out in another dim order than the entry states, wherever the reference allows this; other outs keep theirs. Few
// recorded calls have such outs.
TEST(OptimizedKernels, WriteOutsInOtherDimOrders) {
  constexpr std::size_t most = 6;
  for (const cases::RecordedCalls* calls : corpus().matching("")) {
    const Operator& op = calls->op();
    if (op.mutated() > 0) continue;
    for (std::size_t i = 0, done = 0; i < calls->size() && done < most; ++i) {
      const std::vector<Value>& recorded = calls->at(i).arguments;
      const judge::Expectation expected = judge::expect(op, recorded);
      if (expected.answer.outcome != Outcome::ok) continue;
      std::size_t changed = 0;
      for (std::size_t out = op.arguments.size() - op.outs(); out < op.arguments.size(); ++out) {
        const auto* result = std::get_if<Tensor>(&expected.arguments[out]);
        if (!result || result->rank() < 2) continue;
        std::vector<Value> arguments = expected.arguments;
        Dims order = result->dim_order;
        std::ranges::reverse(order);
        arguments[out] = make(result->dtype, result->sizes, order);
        for (const Way& way : ways) {
          if (!way.set.empty()) continue;
          SCOPED_TRACE(testing::Message() << op.name << ", call " << i << ", out " << out << ", " << way.words);
          changed += expect_right(op, arguments, way);
        }
      }
      done += changed > 0;
    }
  }
}

// Masks and indices that are not neighbours; no recorded call has these.
TEST(OptimizedKernels, IndexByMasksThatAreNotNeighbours) {
  const Value x = drawn({4, 3, 5, 2}), mask = tensor(DType::boolean, {4}, {1, 0, 1, 1}),
              index = tensor(DType::int64, {3}, {4, -1, 0}), one = drawn({3, 3, 2});
  const Tensors indices{std::get<Tensor>(mask), std::nullopt, std::get<Tensor>(index)};
  for (const Way& way : ways) {
    EXPECT_TRUE(expect_right(*find_operator("aten::index.Tensor_out"), {x, indices}, way));
    EXPECT_TRUE(expect_right(*find_operator("aten::index_put.out"), {x, indices, one, true}, way));
  }
}

}  // namespace optimized_kernels_test
}  // namespace assay
