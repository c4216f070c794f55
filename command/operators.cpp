#include <iostream>
#include <memory>

#include "reference/fault.h"
#include "reference/operator.h"
#include "command/subcommands.h"

namespace assay {

void add_operators(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("operators", "Lists the operators with their schemas");
  const auto pattern = std::make_shared<std::string>();
  command->add_option("PATTERN", *pattern, "Only operators whose name has this in it");
  command->callback([pattern] {
    std::size_t listed = 0;
    for (const Operator& op : operator_table()) {
      if (op.name.find(*pattern) == std::string_view::npos) continue;
      std::cout << op.schema << '\n';
      ++listed;
    }
    if (listed == 0)
      throw Fault(Outcome::unsupported, "call.operator", text("no operator has \"", *pattern, "\" in its name"));
  });
}

}  // namespace assay
