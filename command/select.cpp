#include <map>
#include <memory>
#include <set>

#include "command/command.h"
#include "command/limits.h"
#include "command/output_file.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/hosts/program_at_path.h"
#include "conformance/text/malformed.h"
#include "conformance/text/output.h"
#include "conformance/text/read_line.h"

// assay select: which kernels of the optimized runtime programs need, for which dtypes and layouts.
namespace assay::command {
namespace {

struct SelectCommand {
  std::vector<std::string> programs;
  std::vector<std::filesystem::path> data;
  std::string only, folder;
  Budget::Limits limits;
};

// By operator, a line for each kernel with the operands of its calls; under "rewrites", the rewrites that were applied.
using Selection = std::map<std::string, std::set<std::string>>;

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
}

// Reads a file that this command wrote.
Selection read_selection(const std::string& file) {
  Selection selection;
  std::string op;
  text::each_line(file, "selection", [&](const std::string& line) {
    const bool is_call = !op.empty() && line.starts_with("- ");
    text::well_formed(is_call || line.empty() || line.ends_with(':') || line.starts_with('#'), "selection",
                      "assay select writes no such line");
    if (is_call)
      selection[op].insert(line + '\n');
    else if (line.ends_with(':'))
      op = line.substr(0, line.size() - 1);
  });
  return selection;
}

void hold_to(const Selection& allowed, const Selection& selection, const std::string& file) {
  for (const auto& [op, lines] : selection)
    for (const std::string& line : lines)
      if (const auto found = allowed.find(op); found == allowed.end() || !found->second.contains(line))
        throw Fault(Outcome::unsupported, "I4",
                    concat("is needed, but ", file, " has no line ", line.substr(0, line.size() - 1)), op);
}

int select(const SelectCommand& r) {
  Selection selection;
  for (const std::string& program : r.programs) {
    const hosts::ProgramAtPath file = hosts::program_at_path(program);
    adapters::OptimizedClient client(file.path, r.data, {.deployable = true, .budget = Budget(r.limits)});
    for (const std::string& name : client.method_names()) add_needs(client.method(name).method, selection);
  }
  if (!r.only.empty()) hold_to(read_selection(r.only), selection, r.only);
  files::make_folder(r.folder);
  OutputFile out(r.folder + "/selection.yaml");
  out.stream()
      << "# Written by assay select: the calls of operators that the selected kernels do, and what rewrites them.\n";
  for (const auto& [op, lines] : selection) {
    out.stream() << op << ":\n";
    for (const std::string& line : lines) out.stream() << line;
  }
  out.finish();
  return 0;
}

void define_select(Options& options) {
  const auto r = std::make_shared<SelectCommand>();
  options.add("PROGRAM", r->programs, "Reads these .pte or .bpte files").required().existing_file();
  options.add_each("--data", r->data, "FILE", "Loads all programs with this .ptd file");
  options
      .add("--only", r->only, "Refuses programs that need a kernel, dtype or layout that the selection in FILE lacks")
      .existing_file()
      .value("FILE");
  options.add("-o", r->folder, "Writes selection.yaml to FOLDER").required().value("FOLDER");
  add_limits(options, r->limits);
  options.details(
      "The CMake function assay_select() builds a static library from a selection (doc/use_as_a_library.md).");
  options.action([r] { return select(*r); });
}

const Registered registered_select(
    {"select",
     Group::programs,
     "Selects the kernels, dtypes and layouts that programs need, for a build that contains only these",
     define_select,
     {{"assay select model.pte -o selected", "writes selected/selection.yaml"}}});

}  // namespace
}  // namespace assay::command
