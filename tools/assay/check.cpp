#include "conformance/inspect/check.h"

#include <memory>

#include "conformance/adapters/load.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/contract/read_contract.h"
#include "conformance/files/file.h"
#include "tools/assay/faults.h"
#include "tools/assay/libraries.h"
#include "tools/assay/limits.h"
#include "tools/assay/print.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct CheckCommand {
  std::string file, testee;
  std::vector<std::filesystem::path> data;
  Budget::Limits limits;
  bool json = false, map = true;
};

// What the optimized runtime asks for, which no number of threads changes.
void add_memories(const File& file, std::span<const File> data, const OptimizedTestee& testee, const Budget& budget,
                  CheckReport& report) {
  std::vector<OptimizedClient::Bytes> files;
  for (const File& f : data) files.push_back(f.bytes);
  const OptimizedClient client(file.bytes, files, {.testee = testee, .budget = budget});
  for (MethodNeeds& m : report.methods.first) {
    const assay_method_sizes sizes = client.sizes(m.name);
    m.memories = memories(sizes);
    m.memories.emplace_back("workspace, while it is made", sizes.workspace);
  }
}

int show_check(const CheckCommand& r) {
  const Access access{Budget(r.limits), r.map};
  const Budget::Scope scope(access.budget, "the check");
  const OpenLibrary open = r.testee.empty() ? OpenLibrary() : open_library(r.testee, "");
  const Contract contract = open.library ? contract_of(r.testee) : Contract();
  const std::optional<Testee> testee = open.library ? std::optional<Testee>({*open.library, contract}) : std::nullopt;
  const File file = open_file(r.file, access);
  const std::vector<File> data = open_data_files(r.data, access);
  CheckReport report = check(file, data, access.budget, testee ? &*testee : nullptr);
  if (const auto optimized = optimized_for(r.testee);
      optimized && report.faults.empty() && report.kind == FileKind::program)
    add_memories(file, data, *optimized, access.budget, report);
  if (r.json) {
    print_json(access.budget, [&](JsonOutput& out) { write_json(report, out); });
  } else {
    Output out(&std::cout, access.budget);
    write_text(report, out);
  }
  return exit_code(report.outcome());
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "check", "Says whether a program keeps the rules of its format, which it breaks, and what was asked");
  const auto r = std::make_shared<CheckCommand>();
  command->add_option("FILE", r->file, "A .pte, .ptd or .bpte file")->required();
  command->add_option("--data", r->data, "A .ptd file that the program is to be loaded with; once for each")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_option(
      "--with", r->testee,
      "Also list each instruction that this testee has no kernel for; and what the runtime takes of memory, of "
      "optimized, or of optimized:avx2,relaxed for an instruction set and relaxed arithmetic");
  command->add_flag("--json", r->json, "Print JSON");
  add_limits(*command, r->limits);
  add_no_map(*command, r->map);
  command->footer(
      "The rules are those of spec/format/rules.yaml. The exit code is that of the first fault; of a valid program "
      "that\n"
      "the library lacks a kernel for, 5. A file that is truncated while it is read ends the command, unless --no-map "
      "is "
      "given.\n\nExample:\n  assay check model.pte --data weights.ptd --with executorch");
  command->callback([r, &exit_code] { exit_code = refusals_as_json(r->json, [&] { return show_check(*r); }); });
}

}  // namespace assay
