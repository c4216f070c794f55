#include <map>
#include <memory>
#include <set>

#include "conformance/adapters/optimized/client.h"
#include "conformance/text/output.h"
#include "tools/assay/limits.h"
#include "tools/assay/output_file.h"
#include "tools/assay/subcommands.h"

// What programs need of the optimized runtime: which kernels, for which dtypes and layouts.
namespace assay {
namespace {

struct SelectCommand {
  std::vector<std::string> programs;
  std::vector<std::filesystem::path> data;
  std::string only, folder;
  Budget::Limits limits;
};

// By operator, a line for each kernel with operands that it is called with; under "rewrites" those that change calls.
using Selection = std::map<std::string, std::set<std::string>>;

void add_needs(const assay_method* method, Selection& selection) {
  for (std::size_t i = 0; const char* rewrite = assay_rewrite_at(method, i); ++i)
    selection["rewrites"].insert(fmt::format("- {}\n", rewrite));
  for (std::size_t i = 0; i < assay_step_count(method); ++i) {
    const assay_step_info step = assay_step_at(method, i);
    if (step.op_length == 0 || step.kernel == std::string_view("handle")) continue;
    char operands[512];
    assay_step_operands(method, i, operands, sizeof operands);
    selection[std::string(step.op, step.op_length)].insert(
        fmt::format("- {{kernel: {}, operands: \"{}\"}}\n", step.kernel, operands));
  }
}

// The lines of a file that this command wrote.
Selection read_selection(const std::string& file) {
  std::ifstream in(file);
  Selection selection;
  std::string op;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("- "))
      selection[op].insert(line + '\n');
    else if (line.ends_with(':'))
      op = line.substr(0, line.size() - 1);
  }
  return selection;
}

void hold_to(const Selection& allowed, const Selection& selection, const std::string& file) {
  for (const auto& [op, lines] : selection)
    for (const std::string& line : lines)
      if (const auto found = allowed.find(op); found == allowed.end() || !found->second.contains(line))
        throw Fault(Outcome::unsupported, "I4",
                    text("is needed, but ", file, " has no line ", line.substr(0, line.size() - 1)), op);
}

int select(const SelectCommand& r) {
  Selection selection;
  for (const std::string& program : r.programs) {
    OptimizedClient client(program, r.data, {.deployable = true, .budget = Budget(r.limits)});
    for (const std::string& name : client.method_names()) add_needs(client.method(name).method, selection);
  }
  if (!r.only.empty()) hold_to(read_selection(r.only), selection, r.only);
  std::filesystem::create_directories(r.folder);
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

}  // namespace

void add_select(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "select", "Says which kernels programs need, with which dtypes and layouts, for a build that has no others");
  const auto r = std::make_shared<SelectCommand>();
  command->add_option("PROGRAM", r->programs, ".pte files")->required()->check(CLI::ExistingFile);
  command->add_option("--data", r->data, "A .ptd file with data that the programs want; once for each")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_option("--only", r->only, "A selection that is enough: what the programs need beyond it is refused")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  command->add_option("-o", r->folder, "Where selection.yaml is written")->required()->type_name("DIR");
  add_limits(*command, r->limits);
  command->footer(
      "The CMake function assay_select() makes a library of it.\n\nExample:\n  assay select model.pte -o selected");
  command->callback([r, &exit_code] { exit_code = select(*r); });
}

}  // namespace assay
