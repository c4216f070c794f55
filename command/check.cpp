#include "conformance/inspect/check.h"

#include <memory>
#include <set>

#include "command/command.h"
#include "command/faults.h"
#include "command/libraries.h"
#include "command/limits.h"
#include "command/print.h"
#include "conformance/adapters/load.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/contract/read_contract.h"
#include "conformance/files/file.h"
#include "conformance/hosts/child_library.h"

namespace assay::command {
namespace {

struct CheckCommand {
  std::string file, testee;
  std::vector<std::filesystem::path> data;
  Budget::Limits limits;
  Int timeout = case_seconds;  // of a call of a kernel
  bool json = false, map = true;
};

// The memories that the optimized runtime needs. They do not depend on the number of threads.
void add_memories(const File& file, std::span<const File> data, const adapters::OptimizedTestee& testee,
                  const Budget& budget, inspect::CheckReport& report) {
  std::vector<adapters::OptimizedClient::Bytes> files;
  for (const File& f : data) files.push_back(f.bytes);
  const adapters::OptimizedClient client(file.bytes, files, {.testee = testee, .budget = budget});
  for (inspect::MethodNeeds& m : report.methods.first) {
    const assay_method_sizes sizes = client.sizes(m.name);
    m.memories = adapters::memories(sizes);
    m.memories.emplace_back("workspace, while it is made", sizes.workspace);
  }
}

// The official runtime has no backend unless XNNPACK is loaded. For a library of kernels, the reference runs delegates.
Backends backends_of(const std::string& testee) { return testee == usual_testee ? Backends() : own_backends(); }

// The kernels of a library, which a worker calls.
class WorkerKernels {
 public:
  WorkerKernels(testee::KernelLibrary& library, std::chrono::seconds timeout)
      : library_(library, sandbox::time_limit_of(timeout, library.is_remote())) {}

  // As inspect::Testee::refusal. A kernel that hung is not called again.
  std::string refusal(const Operator& op, std::span<const Value> arguments, const Budget& budget) {
    if (hung_.contains(op.name)) return "the kernel hung in an earlier call";
    try {
      const sandbox::Observation seen = library_.observe(op, arguments, budget);
      if (seen.conduct != verdict::Class::none)
        return sentence(hosts::Violation{verdict::Verdict::fail, seen.conduct, seen.violation});
      if (seen.reply.outcome == Outcome::ok) return "";
      return concat("the kernel says: ", seen.reply.message.empty() ? name(seen.reply.outcome) : seen.reply.message);
    } catch (const hosts::Violation& violation) {
      if (violation.verdict == verdict::Verdict::timeout) hung_.insert(op.name);
      return sentence(violation);
    }
  }

 private:
  hosts::ChildLibrary library_;
  std::set<std::string_view> hung_;  // operators
};

// A check asks the reference anyway, recorded results tell nothing about other calls, and kernels of instructions that
// this machine lacks refuse all calls.
bool has_kernels_to_try(const testee::KernelLibrary& library) {
  return library.name() != "reference" && !library.recorded_only() && library.runs_here();
}

int show_check(const CheckCommand& r) {
  const files::Access access{Budget(r.limits), r.map};
  const Budget::Scope scope(access.budget, "the check");
  const OpenLibrary open = r.testee.empty() ? OpenLibrary() : open_library(r.testee, "");
  const contract::Contract contract = open.library ? contract::contract_of(r.testee) : contract::Contract();
  std::optional<WorkerKernels> kernels;
  std::optional<inspect::Testee> testee;
  if (open.library) testee.emplace(inspect::Testee{*open.library, contract, backends_of(r.testee)});
  if (open.library && has_kernels_to_try(*open.library)) {
    kernels.emplace(*open.library, std::chrono::seconds(r.timeout));
    testee->refusal = [&](const auto& op, auto arguments) { return kernels->refusal(op, arguments, access.budget); };
  }
  const File file = files::open_file(r.file, access);
  const std::vector<File> data = files::open_data_files(r.data, access);
  inspect::CheckReport report = inspect::check(file, data, access.budget, testee ? &*testee : nullptr);
  if (const auto optimized = adapters::optimized_for(r.testee);
      optimized && report.faults.empty() && report.kind == &format::program_kind)
    add_memories(file, data, *optimized, access.budget, report);
  if (r.json) {
    print_json(access.budget, [&](text::JsonOutput& out) { inspect::write_json(report, out); });
  } else {
    text::Output out(&std::cout, access.budget);
    inspect::write_text(report, out);
  }
  return exit_code(report.outcome());
}

void define_check(Options& options) {
  const auto r = std::make_shared<CheckCommand>();
  options.add("FILE", r->file, "Checks this .pte, .ptd or .bpte file").required();
  options.add_each("--data", r->data, "FILE", "Checks the program together with this .ptd file");
  options
      .add("--with", r->testee,
           "Also calls the kernel of TESTEE for each instruction, and lists each instruction for which TESTEE has no "
           "kernel or the kernel refuses the call, and each delegate whose backend TESTEE lacks; "
           "with the testee \"optimized\", also lists the memory that each method needs; the kinds of testees are "
           "listed below")
      .value("TESTEE");
  options
      .add("--timeout", r->timeout,
           "Stops each call of a kernel after SECONDS of processor time; if TESTEE runs in another program or on "
           "another "
           "machine, SECONDS is wall-clock time")
      .value("SECONDS")
      .within(1, 86'400)
      .shows_default();
  options.flag("--json", r->json, "Prints JSON");
  add_limits(options, r->limits);
  add_no_map(options, r->map);
  options.details(concat(
      "spec/format/rules.yaml defines the rules. The exit code tells the outcome of the first broken rule. It "
      "is 5 if the\nprogram is valid, but TESTEE lacks a kernel for a call or a backend for a delegate. A kernel is "
      "called with tensors\nthat have the upper bounds of their sizes. All elements are 0; if the kernel refuses the "
      "call, all are 1\nin a second call. Without --no-map, a signal ends the command if another process truncates the "
      "file during the check.\n\n",
      testee_kinds));
  options.action([r] { return refusals_as_json(r->json, [&] { return show_check(*r); }); });
}

const Registered registered_check(
    {"check",
     Group::programs,
     "Checks a program by the rules of its format: lists the broken rules, and what was checked",
     define_check,
     {{"assay check model.pte --data weights.ptd", "lists the broken rules and where the file breaks them"},
      {"assay check model.pte --with executorch", "also lists the kernels that ExecuTorch lacks"},
      {"assay check model.pte --with optimized:avx2", "also lists the memory that the optimized runtime needs"}}});

}  // namespace
}  // namespace assay::command
