#include "conformance/adapters/optimized/selection.h"

#include <fmt/format.h>

#include "conformance/text/malformed.h"
#include "conformance/text/read_line.h"
#include "optimized/api/types.h"
#include "optimized/runtime/table.h"
#include "reference/fault.h"

namespace assay::adapters {

void add_needs(const assay_method* method, Selection& selection) {
  for (std::size_t i = 0; const char* rewrite = assay_rewrite_at(method, i); ++i)
    selection["rewrites"].insert(fmt::format("- {}\n", rewrite));
  for (std::size_t i = 0; i < assay_step_count(method) + assay_folded_step_count(method); ++i) {
    const assay_step_info step = assay_step_at(method, i);
    if (step.op_length == 0 || step.kernel == std::string_view("handle")) continue;
    char operands[512];
    assay_step_operands(method, i, operands, sizeof operands);
    selection[std::string(step.op, step.op_length)].insert(
        fmt::format("- {{kernel: {}, operands: \"{}\"}}\n", step.kernel, operands));
  }
  for (const optimized::Delegate& delegate : optimized::method_of(method).delegates())
    for (const optimized::PlannedBackend* planned : optimized::backend_table())
      if (delegate.backend == &planned->backend) {
        selection["backends"].insert("- program_backend\n");
        add_needs(reinterpret_cast<const assay_method*>(&planned->method(delegate.instance)), selection);
      }
}

Selection read_selection(const std::string& file) {
  Selection selection;
  std::string op;
  text::each_line(file, "selection", [&](const std::string& line) {
    const bool is_call = line.starts_with("- ");
    text::well_formed(is_call ? !op.empty() : line.empty() || line.ends_with(':') || line.starts_with('#'), "selection",
                      "assay select writes no such line");
    if (is_call)
      selection[op].insert(line + '\n');
    else if (line.ends_with(':'))
      op = line.substr(0, line.size() - 1);
  });
  return selection;
}

void write(std::ostream& out, const Selection& selection) {
  out << "# Written by assay select: the calls of operators that the selected kernels do, and what rewrites them.\n";
  for (const auto& [op, lines] : selection) {
    out << op << ":\n";
    for (const std::string& line : lines) out << line;
  }
}

void require_within(const Selection& allowed, const Selection& selection, const std::string& file) {
  for (const auto& [op, lines] : selection)
    for (const std::string& line : lines)
      if (const auto found = allowed.find(op); found == allowed.end() || !found->second.contains(line))
        throw Fault(Outcome::unsupported, "I4",
                    concat("is needed, but ", file, " has no line ", line.substr(0, line.size() - 1)), op);
}

}  // namespace assay::adapters
