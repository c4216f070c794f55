#include <memory>
#include <utility>

#include "command/command.h"
#include "command/kernels.h"
#include "command/libraries.h"
#include "command/limits.h"
#include "command/runtime.h"
#include "conformance/wire/address.h"
#include "reference/fault.h"

namespace assay::command {
namespace {

struct MergeCommand {
  RunRequest run;
  int workers = default_workers;
  std::vector<std::string> files;
};

// Makes the whole run of its shards, with the options that these were given.
template <class Run>
int merge_as(MergeCommand& request, const std::vector<ShardFile>& shards) {
  typename Run::Request whole;
  whole.run = std::move(request.run), whole.workers = request.workers;
  try {
    parse_options(wire::words_of(fact_of(shards.front(), "options")),
                  [&](Options& options) { add_deciding<Run>(options, whole); });
  } catch (const UsageError& error) {
    throw Fault(Outcome::invalid, "merge.settings", concat("its options cannot be read: ", error.what()),
                shards.front().name);
  }
  return Run(whole).merge(shards);
}

int merge(MergeCommand& request) {
  std::vector<ShardFile> shards;
  for (const std::string& file : request.files) shards.push_back(open_shard(file));
  const bool is_of_runtime = fact_of(shards.front(), "suite") == "runtime";
  return (is_of_runtime ? merge_as<RuntimeRun> : merge_as<KernelRun>)(request, shards);
}

void define_merge(Options& options) {
  const auto r = std::make_shared<MergeCommand>();
  options.add("SHARD", r->files, "The files that -o wrote for all shards, in any order").required();
  options
      .add("--testee", r->run.testee,
           "The testee of the shards, with the same name as in the commands that wrote the shards")
      .value("TESTEE")
      .required();
  add_workers(options, r->workers);
  add_run_options(options, r->run).lines.required();
  options.details(
      concat("To find the causes of failures, assay merge calls the kernels of the testee. Except for times, the "
             "merged run equals\nthe run that one machine would write without --shard.\n\n",
             run_exit_codes));
  options.action([r] { return merge(*r); });
}

const Registered registered_merge(
    {"merge",
     Group::runs,
     "Merges shards into one run; assay kernels --shard and assay runtime --shard write shards",
     define_merge,
     {{"assay merge part-*.jsonl --testee ./libmine.so -o run.jsonl", "merges all shards"}},
     true});

}  // namespace
}  // namespace assay::command
