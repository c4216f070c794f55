#include <memory>

#include "command/command.h"
#include "command/limits.h"
#include "command/output_file.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/adapters/optimized/selection.h"
#include "conformance/hosts/program_at_path.h"

// assay select: which kernels of the optimized runtime programs need, for which dtypes and layouts.
namespace assay::command {
namespace {

struct SelectCommand {
  std::vector<std::string> programs;
  std::vector<std::filesystem::path> data;
  std::string only, folder;
  Budget::Limits limits;
};

int select(const SelectCommand& r) {
  adapters::Selection selection;
  for (const std::string& program : r.programs) {
    const hosts::ProgramAtPath file = hosts::program_at_path(program);
    adapters::OptimizedClient client(file.path, r.data, {.deployable = true, .budget = Budget(r.limits)});
    for (const std::string& name : client.method_names()) adapters::add_needs(client.method(name).method, selection);
  }
  if (!r.only.empty()) adapters::require_within(adapters::read_selection(r.only), selection, r.only);
  files::make_folder(r.folder);
  OutputFile out(r.folder + "/selection.yaml");
  adapters::write(out.stream(), selection);
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
