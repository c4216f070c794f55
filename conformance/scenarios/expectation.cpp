#include "conformance/scenarios/expectation.h"

#include "conformance/cases/tensors.h"
#include "reference/fault.h"

namespace assay::scenarios {
namespace {

judge::Judgement failed(verdict::Class failure, std::string message) {
  judge::Judgement j;
  j.verdict = verdict::Verdict::fail, j.failure = failure, j.message = std::move(message);
  return j;
}

// The judgement if a step that must be answered was not answered.
std::optional<judge::Judgement> not_answered(const testee::Reply& reply) {
  if (reply.outcome == Outcome::ok) return std::nullopt;
  if (reply.outcome != Outcome::unsupported)
    return failed(verdict::Class::refused_though_valid,
                  concat("is refused (", name(reply.outcome), "): ", reply.message));
  return unsupported(reply.message);
}

verdict::Class class_of(const files::Comparison& c, const Value& got, const Value& want) {
  const Tensor *g = std::get_if<Tensor>(&got), *w = std::get_if<Tensor>(&want);
  if (c.difference.empty()) return (c.got == "nan") != (c.want == "nan") ? verdict::Class::nan : verdict::Class::value;
  return g && w && g->dtype == w->dtype ? verdict::Class::shape : verdict::Class::dtype;
}

judge::Judgement judged(const StepResult& result, const std::vector<Value>& outputs,
                        const files::Tolerance& tolerance) {
  if (const auto refused = not_answered(result.reply)) return *refused;
  if (result.outputs.size() != outputs.size())
    return failed(verdict::Class::shape, concat("gives ", result.outputs.size(), " outputs, but has ", outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const files::Comparison c = files::compare(result.outputs[i], outputs[i], tolerance); !c.agrees())
      return failed(class_of(c, result.outputs[i], outputs[i]),
                    concat("output ", i, ": ", files::sentence(c, tolerance)));
  return {};
}

// A number counts as an out without dimensions.
std::vector<Tensor> outs_of(const std::vector<Value>& outputs) {
  std::vector<Tensor> outs;
  for (const Value& output : outputs) {
    if (const auto number = number_in(output)) outs.push_back(tensor_of(*number));
    cases::each_tensor(output, [&](const Tensor& t) { outs.push_back(t); });
  }
  return outs;
}

}  // namespace

judge::Judgement unsupported(std::string message) {
  judge::Judgement j;
  j.verdict = verdict::Verdict::unsupported, j.message = std::move(message);
  return j;
}

StepJudge gives(std::vector<Value> outputs, const files::Tolerance& tolerance) {
  StepJudge judge;
  judge.outputs = outputs, judge.rtol = tolerance.rtol, judge.atol = tolerance.atol;
  judge.judge = [outputs = std::move(outputs), tolerance](const StepResult& r) {
    return judged(r, outputs, tolerance);
  };
  return judge;
}

StepJudge gives_or_refuses(std::vector<Value> outputs, const files::Tolerance& tolerance) {
  StepJudge judge = gives(std::move(outputs), tolerance);
  judge.may_refuse = true;
  judge.judge = [answered = std::move(judge.judge)](const StepResult& r) {
    return r.reply.outcome == Outcome::ok ? answered(r) : judge::Judgement{};
  };
  return judge;
}

StepJudge is_answered() {
  return {.judge = [](const StepResult& r) { return not_answered(r.reply).value_or(judge::Judgement{}); }};
}

StepJudge is_refused(std::string why) {
  const auto judge = [why](const StepResult& r) {
    return r.reply.outcome == Outcome::ok
               ? failed(verdict::Class::accepted_though_invalid, concat("is answered despite ", why))
               : judge::Judgement{};
  };
  return {.judge = judge, .refused = std::move(why)};
}

StepJudge answers(const Operator& op, std::vector<Value> arguments, std::shared_ptr<const judge::Expectation> expected,
                  judge::ArithmeticMode arithmetic, judge::Refusals allowed) {
  StepJudge told;
  for (std::size_t i = 0; i < expected->outs.size(); ++i) {
    told.outputs.emplace_back(expected->outs[i]);
    const auto right = judge::right_answers(op, *expected, i);
    told.lowest.push_back(right ? Value(right->lowest) : Value());
    told.highest.push_back(right ? Value(right->highest) : Value());
  }
  told.judge = [&op, arguments = std::move(arguments), expected = std::move(expected), arithmetic,
                allowed](const StepResult& r) {
    const judge::Reaction reaction{r.reply.outcome, r.reply.message, allowed, outs_of(r.outputs), true};
    if (reaction.outcome == Outcome::ok && reaction.outs.size() != expected->outs.size())
      return failed(verdict::Class::shape,
                    concat("gives ", reaction.outs.size(), " outs, but has ", expected->outs.size()));
    return judge::judge(op, arguments, *expected, reaction, arithmetic);
  };
  return told;
}

}  // namespace assay::scenarios
