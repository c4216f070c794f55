#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command/options.h"

namespace assay {

// Exit codes in addition to the exit codes of outcomes (spec/faults.yaml).
inline constexpr int answers_differ = 1;  // an answer differs from the expected one, or a promised case fails
inline constexpr int usage_error = 2;     // the command line is wrong

// The groups of `assay --help`, in its order.
enum class Group { judging, runs, reference, programs, shell };
std::string_view title(Group group);

struct CommandExample {
  std::string line, about;
};

// One command of `assay`. The file that implements a command registers it: `const Registered registered_check({...})`.
// `define` adds its options and sets its action. The action returns the exit code, or throws Fault or UsageError.
struct Command {
  std::string_view name;
  Group group;
  std::string_view about;
  void (*define)(Options& options);
  std::vector<CommandExample> examples;
  bool has_fixed_addresses = false;  // whether the command runs without address space randomisation
};

struct Registered {
  explicit Registered(Command command);
};

const std::vector<Command>& commands();              // sorted by group, then by name
const Command* find_command(std::string_view name);  // null if there is no such command

ProgramHelp program();

}  // namespace assay
