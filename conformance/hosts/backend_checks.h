#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "reference/runtime/delegate.h"

// What a backend promises beside right results. spec/delegates.md defines the checks.
namespace assay::hosts {

struct BackendCheck {
  std::string_view name;
  // Makes delegates by `make` and executes them with these arguments, inputs and then outputs without bytes. Throws
  // sandbox::Misconduct if the backend breaks its promise, and the Fault of an execution that is refused.
  void (*check)(const std::function<std::unique_ptr<Delegate>()>& make, std::span<const Value> arguments);
};
std::span<const BackendCheck> backend_checks();

}  // namespace assay::hosts
