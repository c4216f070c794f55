#include "conformance/scenarios/expectation.h"

#include "conformance/cases/tensors.h"
#include "reference/fault.h"

namespace assay {
namespace {

Judgement failed(Class failure, std::string message) {
  Judgement j;
  j.verdict = Verdict::fail, j.failure = failure, j.message = std::move(message);
  return j;
}

// The judgement if a step that must be answered was not answered.
std::optional<Judgement> not_answered(const Reply& reply) {
  if (reply.outcome == Outcome::ok) return std::nullopt;
  if (reply.outcome != Outcome::unsupported)
    return failed(Class::refused_though_valid, text("is refused (", name(reply.outcome), "): ", reply.message));
  return unsupported(reply.message);
}

Class class_of(const Comparison& c, const Value& got, const Value& want) {
  const Tensor *g = std::get_if<Tensor>(&got), *w = std::get_if<Tensor>(&want);
  if (c.difference.empty()) return (c.got == "nan") != (c.want == "nan") ? Class::nan : Class::value;
  return g && w && g->dtype == w->dtype ? Class::shape : Class::dtype;
}

Judgement judged(const StepResult& result, const std::vector<Value>& outputs, const Tolerance& tolerance) {
  if (const auto refused = not_answered(result.reply)) return *refused;
  if (result.outputs.size() != outputs.size())
    return failed(Class::shape, text("gives ", result.outputs.size(), " outputs, but has ", outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const Comparison c = compare(result.outputs[i], outputs[i], tolerance); !c.agrees())
      return failed(class_of(c, result.outputs[i], outputs[i]), text("output ", i, ": ", sentence(c, tolerance)));
  return {};
}

// A number counts as an out without dimensions.
std::vector<Tensor> outs_of(const std::vector<Value>& outputs) {
  std::vector<Tensor> outs;
  for (const Value& output : outputs) {
    if (const auto number = number_in(output)) outs.push_back(tensor_of(*number));
    each_tensor(output, [&](const Tensor& t) { outs.push_back(t); });
  }
  return outs;
}

}  // namespace

Judgement unsupported(std::string message) {
  Judgement j;
  j.verdict = Verdict::unsupported, j.message = std::move(message);
  return j;
}

StepJudge gives(std::vector<Value> outputs, const Tolerance& tolerance) {
  StepJudge judge;
  judge.outputs = outputs, judge.rtol = tolerance.rtol, judge.atol = tolerance.atol;
  judge.judge = [outputs = std::move(outputs), tolerance](const StepResult& r) {
    return judged(r, outputs, tolerance);
  };
  return judge;
}

StepJudge is_answered() {
  return {.judge = [](const StepResult& r) { return not_answered(r.reply).value_or(Judgement{}); }};
}

StepJudge is_refused(std::string why) {
  const auto judge = [why](const StepResult& r) {
    return r.reply.outcome == Outcome::ok ? failed(Class::accepted_though_invalid, text("is answered despite ", why))
                                          : Judgement{};
  };
  return {.judge = judge, .refused = std::move(why)};
}

StepJudge answers(const Operator& op, std::vector<Value> arguments, std::shared_ptr<const Expectation> expected,
                  ArithmeticMode arithmetic, Refusals allowed) {
  StepJudge told;
  for (std::size_t i = 0; i < expected->outs.size(); ++i) {
    told.outputs.emplace_back(expected->outs[i]);
    const auto right = right_answers(op, *expected, i);
    told.lowest.push_back(right ? Value(right->lowest) : Value());
    told.highest.push_back(right ? Value(right->highest) : Value());
  }
  told.judge = [&op, arguments = std::move(arguments), expected = std::move(expected), arithmetic,
                allowed](const StepResult& r) {
    const Reaction reaction{r.reply.outcome, r.reply.message, allowed, outs_of(r.outputs), true};
    if (reaction.outcome == Outcome::ok && reaction.outs.size() != expected->outs.size())
      return failed(Class::shape, text("gives ", reaction.outs.size(), " outs, but has ", expected->outs.size()));
    return judge(op, arguments, *expected, reaction, arithmetic);
  };
  return told;
}

}  // namespace assay
