#include "conformance/runner/run_case.h"

#include <limits>

#include "conformance/cases/host_call.h"
#include "conformance/judge/choice.h"
#include "conformance/judge/judge.h"
#include "conformance/runner/blame.h"
#include "conformance/sandbox/death.h"
#include "conformance/text/digest.h"
#include "conformance/text/literal.h"
#include "reference/fault.h"

namespace assay {
namespace {

constexpr Int shown_elements = 64;
constexpr std::size_t most_bytes = 1 << 20;  // of the results of one answer

std::size_t bytes_of(std::span<const Tensor> tensors) {
  std::size_t all = 0;
  for (const Tensor& t : tensors) all += t.bytes.size();
  return all;
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

// The out argument as text: "float32 (2, 3)", and the dim order unless it is contiguous.
std::string shown_out(const Tensor& t) {
  const std::string layout = layout_name(t);
  return describe(t) + (layout == "contiguous" ? "" : " " + layout);
}

Record record_of(const CaseId& id, std::string_view testee) {
  Record r;
  r.testee = testee;
  r.operator_name = id.operator_name;
  r.case_id = to_text(id);
  return r;
}

// The facts of the case that every record has.
void describe_case(Record& r, const Case& c, const Contract& contract, const HostCall& host) {
  each_tensor(host.arguments, [&](const Tensor& t, std::size_t) {
    r.dtypes.emplace_back(info(t.dtype).name);
    r.layouts.push_back(layout_name(t));
  });
  r.valid = host.valid();
  Promise promise = contract.promise(*c.op, host);
  r.slices = std::move(promise.slices), r.promised = promise.promised;
}

void describe_call(Record& r, const Case& c, std::span<const Value> given) {
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (c.op->arguments[i].out) {
      std::string outs;
      each_tensor(given.subspan(i, 1),
                  [&](const Tensor& t, std::size_t) { outs += (outs.empty() ? "" : ", ") + shown_out(t); });
      r.outs.push_back({std::string(c.op->arguments[i].name), outs});
      continue;
    }
    r.inputs.push_back(
        {std::string(c.op->arguments[i].name), literal(c.arguments[i], c.op->arguments[i].type, shown_elements)});
    each_tensor({&c.arguments[i], 1},
                [&](const Tensor& t, std::size_t) { elements += static_cast<std::uint64_t>(t.count()); });
  }
  r.elements = elements;
}

// A side effect of the call is more serious than any wrong value. An invalid call that was answered is wrong whatever
// the answer depends on.
void judge_conduct(Judgement& j, const Observation& seen) {
  if (seen.conduct == Class::none) return;
  if (j.failure == Class::accepted_though_invalid &&
      (seen.conduct == Class::unwritten || seen.conduct == Class::reads_uninitialised))
    return;
  j = {Verdict::fail, seen.conduct, std::numeric_limits<double>::infinity(), {}, seen.violation, {}, {}, {}};
}

std::string shown(const Observation& seen, const FreeOuts& free) {
  if (seen.reply.outcome != Outcome::ok) return text(name(seen.reply.outcome), ": ", seen.reply.message);
  std::string all;
  for (std::size_t k = 0; k < seen.outs.size(); ++k) {
    const Tensor& t = seen.outs[k];
    all += (all.empty() ? "" : "\n") + (is_free(free, k) ? shown_out(t) : literal(t, shown_elements));
  }
  return all;
}

std::uint64_t answer_of(const FreeOuts& free, const Observation& seen) {
  std::string all = text(name(seen.reply.outcome), '\n', name(seen.conduct), '\n', seen.violation);
  for (std::size_t k = 0; k < seen.outs.size(); ++k) {
    const Tensor& t = seen.outs[k];
    all += text('\n', describe(t), t.dim_order);
    if (!is_free(free, k)) all.append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
  }
  return digest(all);
}

}  // namespace

FreeOuts free_outs(const Operator& op) {
  FreeOuts free(op.outs(), is_drawn(op));
  for (const AccuracyRow& row : op.accuracy)
    for (int k = 0; k < static_cast<int>(free.size()); ++k)
      if (row.accuracy.measure == Accuracy::Measure::unspecified && (row.output < 0 || row.output == k))
        free[static_cast<std::size_t>(k)] = true;
  return free;
}

Judgement judge(const Operator& op, std::span<const Value> arguments, const Expectation& expected,
                const Observation& seen, ArithmeticMode arithmetic, Refusals allowed, bool has_values) {
  const Reaction reaction{seen.reply.outcome, seen.reply.message, allowed, seen.outs, has_values};
  Judgement j = judge(op, arguments, expected, reaction, arithmetic);
  judge_conduct(j, seen);
  return j;
}

Judged run_case(const Corpus& corpus, Probe& probe, const Contract& contract, const CaseId& id, Detail detail) {
  KernelLibrary& library = probe.library();
  const Case c = corpus.make(id);
  const FreeOuts free = free_outs(*c.op);
  const HostCall host = host_call(c);
  Record r = record_of(id, library.name());
  if (detail >= Detail::facts) describe_case(r, c, contract, host);
  Judgement j;
  Observation seen;
  if (!library.has(*c.op)) {
    j = {Verdict::unsupported, Class::none, 0, {}, text(library.name(), " has no kernel for ", c.op->name), {}, {}, {}};
  } else {
    seen = probe.observe(*c.op, c.arguments, plan_outs(*c.op, host.arguments), digest(r.case_id), free);
    const bool has_values = !(library.recorded_only() && !c.recorded.has_values);
    const Refusals allowed = contract.allowed_refusals(r.promised);
    j = judge(*c.op, c.arguments, host.expected, seen, contract.arithmetic, allowed, has_values);
  }
  r.verdict = j.verdict, r.failure = j.failure, r.distance = j.distance, r.seconds = seen.seconds;
  const bool spoilt = seen.spoilt || probe.is_spent();
  if (j.verdict == Verdict::pass && detail != Detail::all) return {std::move(r), answer_of(free, seen), spoilt, {}};
  r.rule = j.rule, r.message = j.message, r.bound = j.bound;
  if (detail >= Detail::failures || (detail == Detail::facts && !is_failure(j.verdict))) {
    describe_call(r, c, host.arguments);
    r.expected = shown(host.expected);
    r.got = shown(seen, free);
  }
  if (is_drawn(*c.op) && (r.failure == Class::value || r.failure == Class::nan))
    r.message = text("what is wanted is ", c.op->math);
  if (!seen.circumstance.empty()) r.message = text(seen.circumstance, r.message.empty() ? "" : ": ", r.message);
  if (r.failure == Class::not_repeatable) r = not_repeatable(std::move(r));
  Judged judged{std::move(r), answer_of(free, seen), spoilt, {}};
  if (detail == Detail::answer && bytes_of(seen.outs) <= most_bytes) judged.outs = std::move(seen.outs);
  return judged;
}

Judged lost_case(const Corpus& corpus, std::string_view testee, const Contract& contract, const CaseId& id,
                 const TaskResult& result, Detail detail) {
  Record r = record_of(id, testee);
  r.verdict = verdict_on_death(result), r.failure = class_of_death(result);
  r.message = words_of_death(result);
  const std::uint64_t answer = digest(text(name(r.verdict), result.text));
  if (detail < Detail::failures) return {std::move(r), answer, true, {}};
  const Case c = corpus.make(id);
  const HostCall host = host_call(c);
  describe_case(r, c, contract, host);
  describe_call(r, c, host.arguments);
  r.rule = host.expected.answer.rule;
  r.expected = shown(host.expected);
  return {std::move(r), answer, true, {}};
}

}  // namespace assay
