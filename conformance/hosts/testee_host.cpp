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
                       testee::LoadSettings settings, const sandbox::TimeLimit& time_limit, Tell tell)
    : reference_(program),
      budget_(budget),
      runtime_(runtime),
      settings_(std::move(settings)),
      time_limit_(time_limit),
      tell_(std::move(tell)),
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
  text::Json traced = text::Json::array();
  if (settings_.traces && loaded_)
    for (const testee::TracedInstruction& t : loaded_->traced())
      traced.push_back({{"chain", t.chain},
                        {"instruction", t.instruction},
                        {"nanoseconds", t.time.count()},
                        {"values", list_of(t.values)}});
  return {text::line_of({{"outcome", static_cast<int>(reply.outcome)},
                         {"words", reply.message},
                         {"outputs", list_of(outputs)},
                         {"traced", std::move(traced)}})};
}

// Tells of an instruction in the form in which work() notes it.
void TesteeHost::tell(const std::string& method, const text::Json& json) const {
  const pte::ExecutionPlan& plan = reference_.plan(method);
  const auto chain = json["chain"].get<std::uint32_t>(), at = json["instruction"].get<std::uint32_t>();
  const inspect::Listed instruction = inspect::listed(plan, *plan.chains()->Get(chain)->instructions()->Get(at));
  std::vector<Value> values = values_in(json["values"]);
  TracedStep step{
      method, {chain, at, instruction.name, std::chrono::nanoseconds(json["nanoseconds"].get<Int>()), 0}, {}};
  for (std::size_t i = 0; i < values.size() && i < instruction.operands.size(); ++i) {
    if (const Tensor* t = std::get_if<Tensor>(&values[i])) step.event.bytes += t->bytes.size();
    step.seen.push_back({instruction.operands[i], std::move(values[i])});
  }
  tell_(step);
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
  for (const text::Json& instruction : reply["traced"]) tell(method, instruction);
  const auto outcome = static_cast<Outcome>(reply["outcome"].get<int>());
  if (outcome != Outcome::ok)
    throw Fault(outcome, "testee", concat(runtime_.name(), " says: ", reply["words"].get<std::string>()));
  return values_in(reply["outputs"]);
}

}  // namespace assay::hosts
