#include <algorithm>
#include <memory>
#include <utility>

#include "conformance/wire/address.h"
#include "reference/fault.h"
#include "tools/assay/kernel_run.h"
#include "tools/assay/libraries.h"
#include "tools/assay/runtime_run.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct MergeCommand {
  RunRequest run;
  int workers = 2;
  std::vector<std::string> files;
};

// Gives the options of the run, as its shards were given them, to a command that has these.
void take_options(const ShardFile& shard, CLI::App& command) {
  std::vector<std::string> words = wire::words_of(fact_of(shard, "options"));
  std::ranges::reverse(words);
  try {
    command.parse(words);
  } catch (const CLI::ParseError& error) {
    Fault fault(Outcome::invalid, "merge.settings", text("its options cannot be read: ", error.what()));
    fault.place = shard.name;
    throw fault;
  }
}

int merge_runtime(MergeCommand& request, const std::vector<ShardFile>& shards) {
  RuntimeRequest whole;
  whole.run = std::move(request.run), whole.workers = request.workers;
  CLI::App command;
  add_runtime_options(command, whole);
  take_options(shards.front(), command);
  return RuntimeRun(whole).merge(shards);
}

int merge_kernels(MergeCommand& request, const std::vector<ShardFile>& shards) {
  KernelRequest whole;
  whole.run = std::move(request.run), whole.suite.workers = request.workers;
  CLI::App command;
  add_kernel_options(command, whole);
  take_options(shards.front(), command);
  return KernelRun(whole).merge(shards);
}

int merge(MergeCommand& request) {
  std::vector<ShardFile> shards;
  for (const std::string& file : request.files) shards.push_back(open_shard(file));
  const bool is_of_runtime = fact_of(shards.front(), "suite") == "runtime";
  return (is_of_runtime ? merge_runtime : merge_kernels)(request, shards);
}

}  // namespace

void add_merge(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("merge", "Makes one run of the shards of assay kernels --shard, or assay runtime --shard");
  const auto r = std::make_shared<MergeCommand>();
  command->add_option("SHARD", r->files, "Their files, all of them, in any order")->required();
  command->add_option("--testee", r->run.testee, "Who answered, as assay kernels or assay runtime takes it")
      ->required();
  add_workers(*command, r->workers);
  add_run_options(*command, r->run).lines->required();
  command->footer(
      "What is found here are the causes of failures, for which a library of kernels is called; but for times the run "
      "is as one that was never cut. Exit codes are those of assay kernels.\n\nExample:\n  assay merge part-*.jsonl "
      "--testee ./libmine.so -o run.jsonl");
  command->callback([r, &exit_code] { exit_code = merge(*r); });
}

}  // namespace assay
