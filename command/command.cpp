#include "command/command.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "reference/fault.h"
#include "version.h"

namespace assay {
namespace {

// Static, so that it exists when the first file registers its command.
std::vector<Command>& registered() {
  static std::vector<Command> all;
  return all;
}

}  // namespace

std::string_view title(Group group) {
  constexpr std::array titles{"Judging", "Runs", "The reference", "Programs", "The shell"};
  return titles[static_cast<std::size_t>(group)];
}

Registered::Registered(Command command) {
  const auto place = [](const Command& c) { return std::tuple(c.group, c.name); };
  std::vector<Command>& all = registered();
  all.insert(std::ranges::upper_bound(all, place(command), {}, place), std::move(command));
}

const std::vector<Command>& commands() { return registered(); }

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

ProgramHelp program() {
  std::string codes =
      text("Exit codes: 0 ", name(Outcome::ok), ", ", answers_differ, " answers differ, ", usage_error, " usage");
  for (std::size_t i = 1; i < std::size(outcome_names); ++i) codes += text(", ", exit_codes[i], ' ', outcome_names[i]);
  return {"assay", "Says what a PyTorch operator means, and judges kernels, runtimes and loaders by it.", version,
          codes + "."};
}

}  // namespace assay
