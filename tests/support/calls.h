#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "reference/call.h"
#include "tests/support/tensors.h"

// Calls without out arguments, for use in tests.
namespace assay {

// The results of a call that the reference accepts. Throws the refusal otherwise.
inline std::vector<Tensor> results(std::string_view name, std::vector<Value> arguments) {
  const Operator* op = find_operator(name);
  if (!op) throw std::invalid_argument("there is no operator " + std::string(name));
  arguments.resize(op->arguments.size());
  const Answer answer = call(*op, arguments);
  if (answer.outcome != Outcome::ok) throw std::runtime_error(answer.rule + ": " + answer.message);
  std::vector<Tensor> outs;
  for (std::size_t i = arguments.size() - op->outs(); i < arguments.size(); ++i)
    outs.push_back(std::get<Tensor>(arguments[i]));
  return outs;
}

inline Tensor result(std::string_view name, std::vector<Value> arguments) {
  return results(name, std::move(arguments)).front();
}

// The id of the rule that a call breaks; empty when it is accepted.
inline std::string refusal(std::string_view name, std::vector<Value> arguments) {
  const Operator* op = find_operator(name);
  if (!op) throw std::invalid_argument("there is no operator " + std::string(name));
  arguments.resize(op->arguments.size());
  return call(*op, arguments).rule;
}

}  // namespace assay
