#include <iostream>
#include <memory>
#include <string>

#include "command/command.h"
#include "reference/fault.h"
#include "reference/operator.h"

namespace assay {
namespace {

int list_operators(const std::string& pattern) {
  std::size_t listed = 0;
  for (const Operator& op : operator_table()) {
    if (op.name.find(pattern) == std::string_view::npos) continue;
    std::cout << op.schema << '\n';
    ++listed;
  }
  if (listed == 0)
    throw Fault(Outcome::unsupported, "call.operator", text("no operator has \"", pattern, "\" in its name"));
  return exit_code(Outcome::ok);
}

void define_operators(Options& options) {
  const auto pattern = std::make_shared<std::string>();
  options.add("PATTERN", *pattern, "Lists only operators whose name contains PATTERN");
  options.action([pattern] { return list_operators(*pattern); });
}

const Registered registered_operators({"operators",
                                       Group::reference,
                                       "Lists the operators with their schemas",
                                       define_operators,
                                       {{"assay operators conv", "lists the operators whose name contains conv"}}});

}  // namespace
}  // namespace assay
