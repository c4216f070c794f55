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
  std::string codes = text("Exit codes, with the outcomes of spec/faults.yaml:\n  ", exit_code(Outcome::ok), "  ok\n  ",
                           answers_differ, "  an answer differs from the expected one, or a promised case fails\n  ",
                           usage_error, "  the command line is wrong");
  for (std::size_t i = 1; i < std::size(outcome_names); ++i)
    codes += text("\n  ", exit_codes[i], "  ", outcome_names[i]);
  return {"assay", "Tests whether kernels, runtimes and loaders compute what PyTorch defines.", version, codes};
}

}  // namespace assay
