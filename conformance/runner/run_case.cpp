#include "conformance/runner/run_case.h"

#include <limits>

#include "conformance/cases/call_features.h"
#include "conformance/cases/fingerprint.h"
#include "conformance/cases/host_call.h"
#include "conformance/judge/choice.h"
#include "conformance/judge/judge.h"
#include "conformance/runner/blame.h"
#include "conformance/sandbox/death.h"
#include "conformance/text/digest.h"
#include "conformance/text/literal.h"
#include "reference/fault.h"

namespace assay::runner {
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
  for (const Tensor& t : tensors) all += (all.empty() ? "" : "\n") + text::literal(t, shown_elements);
  return all;
}

std::string shown(const judge::Expectation& e) {
  if (e.answer.outcome == Outcome::ok) return shown(e.outs);
  return concat(name(e.answer.outcome), ", ", e.answer.rule, ": ", e.answer.message);
}

// The out argument as text: "float32 (2, 3)", and the dim order unless it is contiguous.
std::string shown_out(const Tensor& t) {
  const std::string layout = cases::layout_name(t);
  return describe(t) + (layout == "contiguous" ? "" : " " + layout);
}

verdict::Record record_of(const cases::CaseId& id, std::string_view testee) {
  verdict::Record r;
  r.testee = testee;
  r.operator_name = id.operator_name;
  r.case_id = cases::to_text(id);
  return r;
}

// The facts of the case that every record has.
void describe_case(verdict::Record& r, const cases::Case& c, const contract::Contract& contract,
                   const cases::HostCall& host) {
  cases::each_tensor(host.arguments, [&](const Tensor& t, std::size_t) {
    r.dtypes.emplace_back(info(t.dtype).name);
    r.layouts.push_back(cases::layout_name(t));
  });
  r.valid = host.valid();
  contract::Promise promise = contract.promise(*c.op, host);
  r.slices = std::move(promise.slices), r.promised = promise.promised;
  r.call = text::digits_of(text::digest(cases::fingerprint(*c.op, host.arguments)));
  r.features = verdict::to_text(cases::call_features_of(*c.op, host.arguments));
}

void describe_call(verdict::Record& r, const cases::Case& c, std::span<const Value> given) {
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (c.op->arguments[i].out) {
      std::string outs;
      cases::each_tensor(given.subspan(i, 1),
                         [&](const Tensor& t, std::size_t) { outs += (outs.empty() ? "" : ", ") + shown_out(t); });
      r.outs.push_back({std::string(c.op->arguments[i].name), outs});
      continue;
    }
    r.inputs.push_back(
        {std::string(c.op->arguments[i].name), text::literal(c.arguments[i], c.op->arguments[i].type, shown_elements)});
    cases::each_tensor({&c.arguments[i], 1},
                       [&](const Tensor& t, std::size_t) { elements += static_cast<std::uint64_t>(t.count()); });
  }
  r.elements = elements;
}

// A side effect of the call is more serious than any wrong value. An invalid call that was answered is wrong whatever
// the answer depends on.
void judge_conduct(judge::Judgement& j, const sandbox::Observation& seen) {
  if (seen.conduct == verdict::Class::none) return;
  if (j.failure == verdict::Class::accepted_though_invalid &&
      (seen.conduct == verdict::Class::unwritten || seen.conduct == verdict::Class::reads_uninitialised ||
       seen.conduct == verdict::Class::depends_on_addresses))
    return;
  j = {verdict::Verdict::fail, seen.conduct, std::numeric_limits<double>::infinity(), {}, seen.violation, {}, {}, {}};
}

std::string shown(const sandbox::Observation& seen, const sandbox::FreeOuts& free) {
  if (seen.reply.outcome != Outcome::ok) return concat(name(seen.reply.outcome), ": ", seen.reply.message);
  std::string all;
  for (std::size_t k = 0; k < seen.outs.size(); ++k) {
    const Tensor& t = seen.outs[k];
    all += (all.empty() ? "" : "\n") + (sandbox::is_free(free, k) ? shown_out(t) : text::literal(t, shown_elements));
  }
  return all;
}

std::uint64_t answer_of(const sandbox::FreeOuts& free, const sandbox::Observation& seen) {
  std::string all = concat(name(seen.reply.outcome), '\n', verdict::name(seen.conduct), '\n', seen.violation);
  for (std::size_t k = 0; k < seen.outs.size(); ++k) {
    const Tensor& t = seen.outs[k];
    all += concat('\n', describe(t), t.dim_order);
    if (!sandbox::is_free(free, k)) all.append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
  }
  return text::digest(all);
}

}  // namespace

sandbox::FreeOuts free_outs(const Operator& op) {
  sandbox::FreeOuts free(op.outs(), judge::is_drawn(op));
  for (const AccuracyRow& row : op.accuracy)
    for (int k = 0; k < static_cast<int>(free.size()); ++k)
      if (row.accuracy.measure == Accuracy::Measure::unspecified && (row.output < 0 || row.output == k))
        free[static_cast<std::size_t>(k)] = true;
  return free;
}

judge::Judgement judge(const Operator& op, std::span<const Value> arguments, const judge::Expectation& expected,
                       const sandbox::Observation& seen, judge::ArithmeticMode arithmetic, judge::Refusals allowed,
                       bool has_values) {
  const judge::Reaction reaction{seen.reply.outcome, seen.reply.message, allowed, seen.outs, has_values};
  judge::Judgement j = judge::judge(op, arguments, expected, reaction, arithmetic);
  judge_conduct(j, seen);
  return j;
}

Judged run_case(const cases::Corpus& corpus, sandbox::Probe& probe, const contract::Contract& contract,
                const cases::CaseId& id, Detail detail) {
  testee::KernelLibrary& library = probe.library();
  const cases::Case c = corpus.make(id);
  const sandbox::FreeOuts free = free_outs(*c.op);
  const cases::HostCall host = cases::host_call(c);
  verdict::Record r = record_of(id, library.name());
  if (detail >= Detail::facts) describe_case(r, c, contract, host);
  judge::Judgement j;
  sandbox::Observation seen;
  if (!library.has(*c.op)) {
    j = {verdict::Verdict::unsupported,
         verdict::Class::none,
         0,
         {},
         concat(library.name(), " has no kernel for ", c.op->name),
         {},
         {},
         {}};
  } else {
    seen = probe.observe(*c.op, c.arguments, sandbox::plan_outs(*c.op, host.arguments), text::digest(r.case_id), free);
    const bool has_values = !(library.recorded_only() && !c.recorded.has_values);
    const judge::Refusals allowed = contract.allowed_refusals(r.promised);
    j = judge(*c.op, c.arguments, host.expected, seen, contract.arithmetic, allowed, has_values);
  }
  r.verdict = j.verdict, r.failure = j.failure, r.distance = j.distance, r.seconds = seen.seconds;
  const bool spoilt = seen.spoilt || probe.is_spent();
  if (j.verdict == verdict::Verdict::pass && detail != Detail::all)
    return {std::move(r), answer_of(free, seen), spoilt, {}};
  r.rule = j.rule, r.message = j.message, r.bound = j.bound;
  if (detail >= Detail::failures || (detail == Detail::facts && !verdict::is_failure(j.verdict))) {
    describe_call(r, c, host.arguments);
    r.expected = shown(host.expected);
    r.got = shown(seen, free);
  }
  if (judge::is_drawn(*c.op) && (r.failure == verdict::Class::value || r.failure == verdict::Class::nan))
    r.message = concat("what is wanted is ", c.op->math);
  // Harder circumstances follow an answer, and an invalid call that is answered at all is accepted without them.
  if (!seen.circumstance.empty() && j.failure != verdict::Class::accepted_though_invalid)
    r.message = concat(seen.circumstance, r.message.empty() ? "" : ": ", r.message);
  if (r.failure == verdict::Class::not_repeatable) r = not_repeatable(std::move(r));
  Judged judged{std::move(r), answer_of(free, seen), spoilt, {}};
  if (detail == Detail::answer && bytes_of(seen.outs) <= most_bytes) judged.outs = std::move(seen.outs);
  return judged;
}

Judged lost_case(const cases::Corpus& corpus, std::string_view testee, const contract::Contract& contract,
                 const cases::CaseId& id, const sandbox::TaskResult& result, Detail detail) {
  verdict::Record r = record_of(id, testee);
  r.verdict = sandbox::verdict_on_death(result), r.failure = sandbox::class_of_death(result);
  r.message = sandbox::words_of_death(result);
  const std::uint64_t answer = text::digest(concat(verdict::name(r.verdict), result.text));
  if (detail < Detail::failures) return {std::move(r), answer, true, {}};
  const cases::Case c = corpus.make(id);
  const cases::HostCall host = cases::host_call(c);
  describe_case(r, c, contract, host);
  describe_call(r, c, host.arguments);
  r.rule = host.expected.answer.rule;
  r.expected = shown(host.expected);
  return {std::move(r), answer, true, {}};
}

}  // namespace assay::runner
