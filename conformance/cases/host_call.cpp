#include "conformance/cases/host_call.h"

namespace assay {
namespace {

std::vector<Value> with_recorded_outs(const Case& c) {
  std::vector<Value> arguments = c.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (c.op->arguments[i].out && std::holds_alternative<std::monostate>(arguments[i]))
      arguments[i] = c.recorded.arguments[i];
  return arguments;
}

// Whether a valid call is still valid with its results as outs. Rules about outs are skipped if a call has no outs.
bool takes_its_results(const Case& c, const HostCall& open) {
  std::vector<Value> arguments = open.arguments;
  return call(*c.op, arguments, {}, Mode::rules).outcome == Outcome::ok;
}

}  // namespace

HostCall host_call(const Case& c, const Budget::Limits& limits) {
  const auto ask = [&](std::vector<Value> arguments) {
    Expectation expected = expect(*c.op, arguments, Budget(limits));
    if (expected.answer.outcome == Outcome::ok) return HostCall{expected.arguments, std::move(expected)};
    return HostCall{std::move(arguments), std::move(expected)};
  };
  HostCall open = ask(c.arguments);
  if (c.id.mutations.empty() || (open.valid() && takes_its_results(c, open))) return open;
  if (!open.valid()) open.arguments = with_recorded_outs(c);
  HostCall given = ask(open.arguments);
  return given.valid() == open.valid() ? open : given;
}

}  // namespace assay
