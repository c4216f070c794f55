#include "conformance/hosts/testee_host.h"

#include "conformance/text/json.h"

namespace assay {
namespace {

Json list_of(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& v : values) list.push_back(to_json(v, "str"));
  return list;
}

std::vector<Value> values_in(const Json& list) {
  std::vector<Value> values;
  for (const Json& json : list) values.push_back(value_of(json, "str"));
  return values;
}

}  // namespace

TesteeHost::TesteeHost(const ValidProgram& program, const Budget& budget, Runtime& runtime, LoadSettings settings,
                       const TimeLimit& time_limit)
    : reference_(program),
      budget_(budget),
      runtime_(runtime),
      settings_(std::move(settings)),
      time_limit_(time_limit),
      fork_server_([this](std::string_view task) { return work(task); }) {}

Work TesteeHost::work(std::string_view task) {
  const Json call = parse_json(task);
  std::vector<Value> outputs;
  Reply reply;
  try {
    if (!loaded_) loaded_ = runtime_.load(settings_, reply);
    if (loaded_) reply = loaded_->call(call["method"].get<std::string>(), values_in(call["inputs"]), outputs);
  } catch (const NotAsked& not_asked) {
    reply = {not_asked.outcome, not_asked.message};
  }
  return {
      line_of({{"outcome", static_cast<int>(reply.outcome)}, {"words", reply.message}, {"outputs", list_of(outputs)}})};
}

TaskResult TesteeHost::answer(const std::string& task) {
  if (!child_) child_.emplace(fork_server_, time_limit_);
  child_->give(task);
  return child_->next();
}

std::vector<Value> TesteeHost::call(const std::string& method, std::vector<Value> inputs) {
  inputs = adapted(reference_.plan(method), std::move(inputs));
  const ChargedText charged(budget_, inputs);
  const TaskResult result = answer(line_of({{"method", method}, {"inputs", list_of(inputs)}}));
  if (result.end == TaskResult::End::threw) throw *result.fault;
  if (result.end != TaskResult::End::done) {
    child_.reset();
    throw violation_of(result);
  }
  const Json reply = parse_json(result.text, Budget(budget_.left()));
  const auto outcome = static_cast<Outcome>(reply["outcome"].get<int>());
  if (outcome != Outcome::ok)
    throw Fault(outcome, "testee", text(runtime_.name(), " says: ", reply["words"].get<std::string>()));
  return values_in(reply["outputs"]);
}

}  // namespace assay
