#include "conformance/reproduce/reproduction.h"

#include <gmock/gmock-more-matchers.h>

#include <cmath>
#include <set>

#include "conformance/cases/host_call.h"
#include "conformance/hosts/calls.h"
#include "conformance/judge/choice.h"
#include "conformance/text/call_json.h"
#include "reference/runtime/call_rules.h"
#include "tests/support/golden.h"
#include "tests/support/tensors.h"

// Reproductions agree with the judge, and the reference runs the programs in them.
namespace assay {
namespace reproduce_test {

using testing::AnyOf;
using testing::HasSubstr;

const cases::Corpus& corpus() {
  static const cases::Corpus all(golden_folder() / "operators");
  return all;
}

// A few recorded calls of every operator.
template <class F>
void each_case(std::size_t most, F f) {
  for (const cases::RecordedCalls* calls : corpus().matching(""))
    for (std::size_t i = 0; i < std::min(most, calls->size()); ++i) {
      const cases::Case c = corpus().make({std::string(calls->op().name), calls->digest(i), {}});
      SCOPED_TRACE(cases::to_text(c.id));
      f(c);
    }
}

// The message that refuses the reproduction; empty if it is made.
std::string refusal(const cases::Case& c, reproduce::ReproductionKind kind) {
  try {
    static_cast<void>(reproduce::reproduction(c, kind));
    return {};
  } catch (const Fault& f) {
    EXPECT_EQ(f.rule, "case.as");
    EXPECT_EQ(f.outcome, Outcome::unsupported);
    return f.message;
  }
}

cases::Case call_of(std::string_view name, std::vector<Value> arguments) {
  const Operator* op = find_operator(name);
  arguments.resize(op->arguments.size());
  return {{std::string(name), 0, {}}, op, std::move(arguments), {}};
}

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<Ints> dim_orders(std::span<const Value> values) {
  std::vector<Ints> orders;
  for (const Value& v : values)
    if (const Tensor* t = std::get_if<Tensor>(&v)) orders.emplace_back(t->dim_order.begin(), t->dim_order.end());
  return orders;
}

TEST(Bundle, IsValidAndGivesItsExpectedOutputs) {
  std::size_t made = 0;
  each_case(4, [&](const cases::Case& c) {
    if (!refusal(c, reproduce::ReproductionKind::bpte).empty()) return;
    ++made;
    const BundleFile bundle = inspect::value_or_throw(
        open_bundle(in_memory(bytes_of(reproduce::reproduction(c, reproduce::ReproductionKind::bpte)))));
    const ValidProgram program = hosts::valid_program(program_of(bundle));
    EXPECT_THAT(faults_of(bundle, program), testing::IsEmpty());
    for (const Fault& f : faults_of_calls(program).faults) ADD_FAILURE() << f.rule << ": " << f.message;
    std::size_t calls = 0;
    hosts::each_call(bundle, {}, [&](const hosts::ProgramCall& call) {
      ++calls;
      hosts::Host host(program);
      const hosts::CallResult result = hosts::run_call(host, call);
      EXPECT_TRUE(result.agrees()) << (result.refusal ? result.refusal->message : result.mismatch);
      EXPECT_EQ(dim_orders(result.outputs), dim_orders(*call.outputs));
      EXPECT_EQ(result.comparisons.size(), cases::host_call(c).expected.outs.size());
    });
    EXPECT_EQ(calls, 1u);
  });
  EXPECT_GT(made, 600u);
}

TEST(Request, HasTheStoredAnswer) {
  std::set<std::string> outcomes;
  each_case(4, [&](const cases::Case& c) {
    const text::Json both = text::parse_json(reproduce::reproduction(c, reproduce::ReproductionKind::json));
    EXPECT_EQ(text::answer_line(text::line_of(both["request"])), text::line_of(both["answer"]));
    outcomes.insert(both["answer"]["outcome"].get<std::string>());
  });
  EXPECT_THAT(outcomes, testing::IsSupersetOf({"ok", "invalid"}));
}

// The judge's verdict on the expected outs with one of them replaced.
verdict::Verdict verdict_with(const cases::Case& c, const cases::HostCall& host, std::size_t output,
                              const Tensor& out) {
  std::vector<Tensor> outs = host.expected.outs;
  outs[output] = out;
  return judge::judge(*c.op, c.arguments, host.expected, {Outcome::ok, {}, judge::Refusals::unsupported, outs, true})
      .verdict;
}

TEST(RightAnswers, AreExactlyTheAnswersThatTheJudgePasses) {
  std::size_t steps = 0, bounds = 0;
  each_case(6, [&](const cases::Case& c) {
    const cases::HostCall host = cases::host_call(c);
    if (!host.valid() || !judge::has_one_answer(*c.op, c.arguments)) return;
    for (std::size_t k = 0; k < host.expected.outs.size(); ++k) {
      const auto right = judge::right_answers(*c.op, host.expected, k);
      if (!right || !is_floating(right->lowest.dtype)) continue;
      EXPECT_NE(verdict_with(c, host, k, right->lowest), verdict::Verdict::fail);
      EXPECT_NE(verdict_with(c, host, k, right->highest), verdict::Verdict::fail);
      for (const Tensor* limit : {&right->lowest, &right->highest}) {
        const auto bits = read_parts(*limit);
        bounds += limit->bytes != host.expected.outs[k].bytes;
        for (Int i = 0; i < std::min<Int>(bits.count(), 4); ++i) {
          const Real x = info(limit->dtype).real_of(bits[i]);
          if (!std::isfinite(x) || x == 0) continue;  // the neighbour of 0 is the other 0
          Array<Bits> beyond = read_parts(host.expected.outs[k]);
          const bool away_from_0 = (limit == &right->highest) == (x > 0);
          beyond[i] = away_from_0 ? bits[i] + 1 : bits[i] - 1;
          Tensor wrong = host.expected.outs[k];
          write_parts(beyond, wrong);
          EXPECT_EQ(verdict_with(c, host, k, wrong), verdict::Verdict::fail) << "element " << i << " beyond " << x;
          ++steps;
        }
      }
    }
  });
  EXPECT_GT(steps, 1000u);
  EXPECT_GT(bounds, 100u);
}

TEST(Kinds, RefuseACallThatTheyCannotExpress) {
  using enum reproduce::ReproductionKind;
  const Tensor one = tensor(DType::float32, {1}, {1}), empty = make(DType::float32, {0});
  const auto refused = [&](const cases::Case& c) {
    std::vector<std::string> sentences;
    for (const reproduce::ReproductionRow& row : reproduce::reproduction_kinds())
      sentences.push_back(refusal(c, row.kind));
    return sentences;
  };
  const auto exactly = [](const char* python, const char* cpp, const char* bpte) {
    const auto is = [](const char* part) { return *part ? testing::Matcher<std::string>(HasSubstr(part)) : ""; };
    return testing::ElementsAre(is(python), is(cpp), is(bpte), "");
  };
  const auto add = [&](const Tensor& self, const Tensor& other, Value alpha) {
    return call_of("aten::add.out", {self, other, std::move(alpha)});
  };
  EXPECT_THAT(refused(add(one, one, Int{1})), exactly("", "", ""));
  EXPECT_THAT(refused(add(one, one, 0.0)), exactly("", "", ""));
  EXPECT_THAT(refused(add(one, one, -0.0)), exactly("", "", ""));
  EXPECT_THAT(refused(add(one, make(DType::float32, {2, 3}), Int{1})), exactly("", "", ""));
  EXPECT_THAT(refused(call_of("aten::add.out", {one, make(DType::float32, {2}), 1.5, make(DType::int32, {2})})),
              exactly("", "", "an invalid call"));
  const Int largest = std::numeric_limits<std::int32_t>::max();
  EXPECT_THAT(refused(call_of("aten::abs.out", {make(DType::float32, {0, largest})})), exactly("", "", ""));
  EXPECT_THAT(refused(call_of("aten::abs.out", {make(DType::float32, {0, largest + 1})})),
              exactly("32 bits", "32 bits", "32 bits"));
  EXPECT_THAT(refused(call_of("aten::abs.out", {make(DType::float32, {1, 2, 3, 4}, {0, 2, 3, 1})})),
              exactly("", "", ""));
  EXPECT_THAT(refused(call_of("aten::abs.out", {make(DType::float32, {2, 3}, {1, 0})})), exactly("dim order", "", ""));
  EXPECT_THAT(refused(call_of("aten::abs.out", {make(DType::float32, {1, 2, 3, 4, 5}, {0, 2, 3, 4, 1})})),
              exactly("dim order", "", ""));
  EXPECT_THAT(refused(call_of("aten::t_copy.out", {make(DType::quint8, {2, 3})})), exactly("dtype", "", ""));
  const auto topk = [&](const std::vector<Real>& values, bool sorted) {
    return call_of("aten::topk.values", {tensor(DType::float32, {3}, values), Int{2}, Int{-1}, true, sorted});
  };
  EXPECT_THAT(refused(topk({1, 2, 3}, true)), exactly("", "", ""));
  EXPECT_THAT(refused(topk({1, 2, 2}, true)), exactly("equal elements", "equal elements", "equal elements"));
  EXPECT_THAT(refused(topk({0, -0.0, 2}, true)), exactly("equal elements", "equal elements", "equal elements"));
  EXPECT_THAT(refused(topk({1, 2, 3}, false)), exactly("equal elements", "equal elements", "equal elements"));
  EXPECT_THAT(refused(call_of("aten::rand.out", {Ints{2}})), exactly("random", "random", "random"));
  EXPECT_THAT(refused(call_of("aten::zeros.out", {Ints{1 << 20, 1 << 20}})), exactly("limits", "limits", "limits"));
}

TEST(Bundle, KeepsTheSignOfZeros) {
  const cases::Case c = call_of("aten::full.out", {Ints{1}, -0.0});
  const BundleFile bundle = inspect::value_or_throw(
      open_bundle(in_memory(bytes_of(reproduce::reproduction(c, reproduce::ReproductionKind::bpte)))));
  hosts::each_call(bundle, {}, [&](const hosts::ProgramCall& call) {
    hosts::Host host(hosts::valid_program(program_of(bundle)));
    const std::vector<Value> outputs = hosts::run_call(host, call).outputs;
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_TRUE(std::signbit(read<Real>(std::get<Tensor>(outputs[0])).data[0]));
  });
}

TEST(Kinds, AreDescribedWithTheirLimits) {
  const std::string all = reproduce::describe_reproductions();
  for (const reproduce::ReproductionRow& row : reproduce::reproduction_kinds()) EXPECT_THAT(all, HasSubstr(row.is));
  EXPECT_THAT(all, HasSubstr("- a call with sizes or strides beyond 32 bits"));
}

TEST(Kinds, CanExpressNearlyAllRecordedCalls) {
  std::array<std::size_t, 4> made{};
  std::size_t cases = 0;
  each_case(3, [&](const cases::Case& c) {
    ++cases;
    for (const reproduce::ReproductionRow& row : reproduce::reproduction_kinds())
      made[static_cast<std::size_t>(row.kind)] += refusal(c, row.kind).empty();
  });
  for (std::size_t kind = 0; kind < 4; ++kind)
    EXPECT_GT(made[kind], cases * 7 / 10) << reproduce::reproduction_kinds()[kind].name;
}

}  // namespace reproduce_test
}  // namespace assay
