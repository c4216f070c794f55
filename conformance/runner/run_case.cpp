#include "conformance/runner/run_case.h"

#include <limits>

#include "conformance/judge/judge.h"
#include "conformance/testees/probe.h"
#include "conformance/text/literal.h"
#include "reference/fault.h"

namespace assay {
namespace {

constexpr Int shown_elements = 64;

// f(tensor) for every tensor of the arguments, those of lists one by one.
template <class F>
void each_tensor(std::span<const Value> arguments, F f) {
  for (const Value& v : arguments) {
    if (const Tensor* t = std::get_if<Tensor>(&v)) f(*t);
    if (const Tensors* list = std::get_if<Tensors>(&v))
      for (const auto& t : *list)
        if (t) f(*t);
  }
}

std::string layout_name(const Tensor& t) {
  if (t.dim_order == Dims::counting(t.rank())) return "contiguous";
  if (t.dim_order == Dims{0, 2, 3, 1} || t.dim_order == Dims{0, 2, 3, 4, 1}) return "channels_last";
  return text(t.dim_order);
}

std::string shown(std::span<const Tensor> tensors) {
  std::string all;
  for (const Tensor& t : tensors) all += (all.empty() ? "" : "\n") + literal(t, shown_elements);
  return all;
}

std::string shown(const Expectation& e) {
  if (e.answer.outcome == Outcome::ok) return shown(e.outs);
  return text(name(e.answer.outcome), ", ", e.answer.rule, ": ", e.answer.message);
}

// The facts of the case that every record has.
Record record_of(const Case& c, std::string_view testee, std::span<const Value> arguments) {
  Record r;
  r.testee = testee;
  r.operator_name = c.op->name;
  r.case_id = to_text(c.id);
  each_tensor(arguments, [&](const Tensor& t) {
    r.dtypes.emplace_back(info(t.dtype).name);
    r.layouts.push_back(layout_name(t));
  });
  return r;
}

void describe_inputs(Record& r, const Case& c) {
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (c.op->arguments[i].out) continue;
    r.inputs.push_back(
        {std::string(c.op->arguments[i].name), literal(c.arguments[i], c.op->arguments[i].type, shown_elements)});
    each_tensor({&c.arguments[i], 1}, [&](const Tensor& t) { elements += static_cast<std::uint64_t>(t.count()); });
  }
  r.elements = elements;
}

// The call as a host makes it, with outs, and what the reference says to it.
struct HostCall {
  std::vector<Value> arguments;
  Expectation expected;

  bool valid() const { return expected.answer.outcome == Outcome::ok; }
};

std::vector<Value> with_recorded_outs(const Case& c) {
  std::vector<Value> arguments = c.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (c.op->arguments[i].out && std::holds_alternative<std::monostate>(arguments[i]))
      arguments[i] = c.recorded.arguments[i];
  return arguments;
}

// Outs that a mutated call leaves open are as the reference makes them, as recorded where it refuses. Whether the call
// is valid may depend on them, so the reference is asked again with those.
HostCall host_call(const Case& c) {
  const auto ask = [&](std::vector<Value> arguments) {
    Expectation expected = expect(*c.op, arguments);
    if (expected.answer.outcome == Outcome::ok) return HostCall{expected.arguments, std::move(expected)};
    return HostCall{std::move(arguments), std::move(expected)};
  };
  HostCall open = ask(c.arguments);
  if (c.id.mutations.empty()) return open;
  if (!open.valid()) open.arguments = with_recorded_outs(c);
  HostCall given = ask(open.arguments);
  return given.valid() == open.valid() ? open : given;
}

bool has_free_values(const Operator& op) {
  return std::ranges::any_of(
      op.accuracy, [](const AccuracyRow& row) { return row.accuracy.measure == Accuracy::Measure::unspecified; });
}

// What the memory around a call tells is worse than any value in it.
void judge_conduct(Judgement& j, const Operator& op, const Observation& seen) {
  const auto fail = [&](Class failure, std::string message) {
    j = {Verdict::fail, failure, std::numeric_limits<double>::infinity(), {}, std::move(message), {}, {}, {}};
  };
  if (!seen.damaged.empty()) return fail(Class::out_of_bounds, seen.damaged);
  if (!seen.changed_input.empty())
    return fail(Class::input_changed, text(seen.changed_input, " was changed by the call"));
  if (seen.reply.outcome != Outcome::ok || j.failure == Class::accepted_though_invalid || has_free_values(op)) return;
  if (seen.unwritten > 0)
    return fail(Class::unwritten, text(seen.unwritten, " elements were never written, the first is element ",
                                       seen.unwritten_element, " of out ", seen.unwritten_out));
  if (seen.differs && j.verdict != Verdict::fail)
    fail(Class::value, "a second run of the same call gave another result");
}

}  // namespace

Record run_case(const Corpus& corpus, KernelLibrary& library, const CaseId& id, bool always_described) {
  const Case c = corpus.make(id);
  const HostCall host = host_call(c);
  Record r = record_of(c, library.name(), host.arguments);
  Judgement j;
  Observation seen;
  if (!library.has(*c.op)) {
    j = {Verdict::unsupported, Class::none, 0, {}, text(library.name(), " has no kernel for ", c.op->name), {}, {}, {}};
  } else {
    seen = observe(library, *c.op, c.arguments, plan_outs(*c.op, host.arguments));
    const bool has_values = !(library.recorded_only() && !c.recorded.has_values);
    j = judge(
        *c.op, c.arguments, host.expected,
        {seen.reply.outcome, seen.reply.message, library.in_profile(*c.op, host.arguments), seen.outs, has_values});
    judge_conduct(j, *c.op, seen);
  }
  r.verdict = j.verdict, r.failure = j.failure, r.distance = j.distance, r.seconds = seen.seconds;
  if (j.verdict == Verdict::pass && !always_described) return r;
  r.rule = j.rule, r.message = j.message, r.bound = j.bound;
  describe_inputs(r, c);
  r.expected = shown(host.expected);
  r.got =
      seen.reply.outcome == Outcome::ok ? shown(seen.outs) : text(name(seen.reply.outcome), ": ", seen.reply.message);
  return r;
}

Record lost_case(const Corpus& corpus, std::string_view testee, const CaseId& id, Verdict verdict,
                 std::string message) {
  const Case c = corpus.make(id);
  const HostCall host = host_call(c);
  Record r = record_of(c, testee, host.arguments);
  r.verdict = verdict;
  r.failure = verdict == Verdict::crash ? Class::abort : Class::none;
  r.rule = host.expected.answer.rule;
  r.message = std::move(message);
  describe_inputs(r, c);
  r.expected = shown(host.expected);
  return r;
}

}  // namespace assay
