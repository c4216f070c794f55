#include "conformance/inspect/check.h"

#include <memory>

#include "command/command.h"
#include "command/faults.h"
#include "command/libraries.h"
#include "command/limits.h"
#include "command/print.h"
#include "conformance/adapters/load.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/contract/read_contract.h"
#include "conformance/files/file.h"

namespace assay {
namespace {

struct CheckCommand {
  std::string file, testee;
  std::vector<std::filesystem::path> data;
  Budget::Limits limits;
  bool json = false, map = true;
};

// The memories that the optimized runtime needs. They do not depend on the number of threads.
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
      optimized && report.faults.empty() && report.kind == &format::program_kind)
    add_memories(file, data, *optimized, access.budget, report);
  if (r.json) {
    print_json(access.budget, [&](JsonOutput& out) { write_json(report, out); });
  } else {
    Output out(&std::cout, access.budget);
    write_text(report, out);
  }
  return exit_code(report.outcome());
}

void define_check(Options& options) {
  const auto r = std::make_shared<CheckCommand>();
  options.add("FILE", r->file, "A .pte, .ptd or .bpte file").required();
  options.add_each("--data", r->data, "FILE", "A .ptd file that the program is to be loaded with");
  options.add("--with", r->testee,
              "List also each instruction that this testee has no kernel for; for optimized, or optimized:avx2,relaxed "
              "(an instruction set, relaxed arithmetic), list how much memory the runtime takes");
  options.flag("--json", r->json, "Print JSON");
  add_limits(options, r->limits);
  add_no_map(options, r->map);
  options.details(
      "spec/format/rules.yaml has the rules. The exit code is that of the first fault; 5 where the program is valid "
      "but "
      "the\nlibrary lacks a kernel for it. Without --no-map, a file that is truncated while it is read ends the "
      "command.");
  options.action([r] { return refusals_as_json(r->json, [&] { return show_check(*r); }); });
}

const Registered registered_check(
    {"check",
     Group::programs,
     "Says whether a program keeps the rules of its format, which it breaks, and what was checked",
     define_check,
     {{"assay check model.pte --data weights.ptd", "the broken rules, with their places"},
      {"assay check model.pte --with executorch", "and the kernels that executorch lacks"},
      {"assay check model.pte --with optimized:avx2", "and the memory that the optimized runtime takes"}}});

}  // namespace
}  // namespace assay
