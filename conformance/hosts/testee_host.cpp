#include "conformance/hosts/testee_host.h"

#include "conformance/sandbox/misconduct.h"
#include "conformance/text/json.h"

namespace assay::hosts {
namespace {

text::Json list_of(const std::vector<Value>& values) {
  text::Json list = text::Json::array();
  for (const Value& v : values) list.push_back(text::to_json(v, "str"));
  return list;
}

std::vector<Value> values_in(const text::Json& list) {
  std::vector<Value> values;
  for (const text::Json& json : list) values.push_back(text::value_of(json, "str"));
  return values;
}

}  // namespace

TesteeHost::TesteeHost(const ValidProgram& program, const Budget& budget, testee::Runtime& runtime,
                       testee::LoadSettings settings, const sandbox::TimeLimit& time_limit)
    : reference_(program),
      budget_(budget),
      runtime_(runtime),
      settings_(std::move(settings)),
      time_limit_(time_limit),
      fork_server_([this](std::string_view task) { return work(task); }) {}

sandbox::Work TesteeHost::work(std::string_view task) {
  const text::Json call = text::parse_json(task);
  std::vector<Value> outputs;
  testee::Reply reply;
  try {
    if (!loaded_) loaded_ = runtime_.load(settings_, reply);
    if (loaded_) reply = loaded_->call(call["method"].get<std::string>(), values_in(call["inputs"]), outputs);
  } catch (const testee::NotAsked& not_asked) {
    reply = {not_asked.outcome, not_asked.message};
  } catch (const sandbox::Misconduct& misconduct) {
    return {text::line_of({{"misconduct", static_cast<int>(misconduct.failure)}, {"words", misconduct.sentence}})};
  }
  return {text::line_of(
      {{"outcome", static_cast<int>(reply.outcome)}, {"words", reply.message}, {"outputs", list_of(outputs)}})};
}

sandbox::TaskResult TesteeHost::answer(const std::string& task) {
  if (!child_) child_.emplace(fork_server_, time_limit_);
  child_->give(task);
  return child_->next();
}

std::vector<Value> TesteeHost::call(const std::string& method, std::vector<Value> inputs) {
  inputs = adapted(reference_.plan(method), std::move(inputs));
  const ChargedText charged(budget_, inputs);
  const sandbox::TaskResult result = answer(text::line_of({{"method", method}, {"inputs", list_of(inputs)}}));
  if (result.end == sandbox::TaskResult::End::threw) throw *result.fault;
  if (result.end != sandbox::TaskResult::End::done) {
    child_.reset();
    throw violation_of(result);
  }
  const text::Json reply = text::parse_json(result.text, Budget(budget_.left()));
  if (reply.contains("misconduct"))
    throw Violation{verdict::Verdict::fail, static_cast<verdict::Class>(reply["misconduct"].get<int>()),
                    reply["words"].get<std::string>()};
  const auto outcome = static_cast<Outcome>(reply["outcome"].get<int>());
  if (outcome != Outcome::ok)
    throw Fault(outcome, "testee", concat(runtime_.name(), " says: ", reply["words"].get<std::string>()));
  return values_in(reply["outputs"]);
}

}  // namespace assay::hosts
