#include "conformance/hosts/child_library.h"

#include "conformance/runner/run_case.h"
#include "conformance/text/call_json.h"
#include "conformance/verdict/fields.h"
#include "reference/fault.h"

namespace assay::hosts {
namespace {

std::string to_text(const sandbox::Observation& seen) {
  text::Json outs = text::Json::array();
  for (const Tensor& t : seen.outs) outs.push_back(text::to_json(t));
  return text::line_of({{"outcome", static_cast<int>(seen.reply.outcome)},
                        {"words", seen.reply.message},
                        {"conduct", verdict::name(seen.conduct)},
                        {"violation", seen.violation},
                        {"outs", std::move(outs)}});
}

sandbox::Observation observation_in(std::string_view text, const Budget& budget) {
  const text::Json json = text::parse_json(text, Budget(budget.left()));
  sandbox::Observation seen;
  seen.reply = {static_cast<Outcome>(json["outcome"].get<int>()), json["words"].get<std::string>()};
  verdict::fields::decode("conduct", json["conduct"], seen.conduct);
  seen.violation = json["violation"].get<std::string>();
  for (const text::Json& out : json["outs"]) seen.outs.push_back(std::get<Tensor>(text::value_of(out, "Tensor")));
  return seen;
}

}  // namespace

ChildLibrary::ChildLibrary(testee::KernelLibrary& library, const sandbox::TimeLimit& time_limit)
    : library_(library), time_limit_(time_limit), fork_server_([this](std::string_view task) { return work(task); }) {}

sandbox::Work ChildLibrary::work(std::string_view task) {
  if (!probe_) probe_.emplace(library_).handle_faults();
  const text::CallRequest call = text::request_in(text::parse_json(task));
  const sandbox::Observation seen = probe_->observe(
      *call.op, call.arguments, sandbox::plan_outs(*call.op, call.arguments), 1, runner::free_outs(*call.op));
  return {to_text(seen), seen.spoilt || probe_->is_spent()};
}

sandbox::Observation ChildLibrary::observe(const Operator& op, std::span<const Value> arguments, const Budget& budget) {
  const ChargedText charged(budget, arguments);
  if (!child_) child_.emplace(fork_server_, time_limit_);
  child_->give(text::line_of(text::request_json(nullptr, op, arguments)));
  const sandbox::TaskResult result = child_->next();
  using enum sandbox::TaskResult::End;
  if (result.end == threw) throw *result.fault;
  if (result.end != done) child_.reset();
  if (result.end != done && result.end != last) throw violation_of(result);
  return observation_in(result.text, budget);
}

}  // namespace assay::hosts
