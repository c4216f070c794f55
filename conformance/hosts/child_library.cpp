#include "conformance/hosts/child_library.h"

#include "conformance/runner/run_case.h"
#include "conformance/text/call_json.h"
#include "conformance/verdict/fields.h"
#include "reference/fault.h"

namespace assay {
namespace {

std::string to_text(const Observation& seen) {
  Json outs = Json::array();
  for (const Tensor& t : seen.outs) outs.push_back(to_json(t));
  return line_of({{"outcome", static_cast<int>(seen.reply.outcome)},
                  {"words", seen.reply.message},
                  {"conduct", name(seen.conduct)},
                  {"violation", seen.violation},
                  {"outs", std::move(outs)}});
}

Observation observation_in(std::string_view text, const Budget& budget) {
  const Json json = parse_json(text, Budget(budget.left()));
  Observation seen;
  seen.reply = {static_cast<Outcome>(json["outcome"].get<int>()), json["words"].get<std::string>()};
  fields::decode("conduct", json["conduct"], seen.conduct);
  seen.violation = json["violation"].get<std::string>();
  for (const Json& out : json["outs"]) seen.outs.push_back(std::get<Tensor>(value_of(out, "Tensor")));
  return seen;
}

}  // namespace

ChildLibrary::ChildLibrary(KernelLibrary& library, const TimeLimit& time_limit)
    : library_(library), time_limit_(time_limit), fork_server_([this](std::string_view task) { return work(task); }) {}

Work ChildLibrary::work(std::string_view task) {
  if (!probe_) probe_.emplace(library_).explain_faults();
  const CallRequest call = request_in(parse_json(task));
  const Observation seen =
      probe_->observe(*call.op, call.arguments, plan_outs(*call.op, call.arguments), 1, free_outs(*call.op));
  return {to_text(seen), seen.spoilt || probe_->is_spent()};
}

Observation ChildLibrary::observe(const Operator& op, std::span<const Value> arguments, const Budget& budget) {
  const ChargedText charged(budget, arguments);
  if (!child_) child_.emplace(fork_server_, time_limit_);
  child_->give(line_of(request_json(nullptr, op, arguments)));
  const TaskResult result = child_->next();
  using enum TaskResult::End;
  if (result.end == threw) throw *result.fault;
  if (result.end != done) child_.reset();
  if (result.end != done && result.end != last) throw violation_of(result);
  return observation_in(result.text, budget);
}

}  // namespace assay
