#include <algorithm>
#include <memory>

#include "conformance/testees/wire/address.h"
#include "reference/fault.h"
#include "tools/assay/kernel_run.h"
#include "tools/assay/libraries.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct Request {
  KernelRequest kernels;
  std::vector<std::string> files;
};

// The options of the run, as its shards were given them.
void take_options(const ShardFile& shard, KernelRequest& request) {
  std::vector<std::string> words = wire::words_of(fact_of(shard, "options"));
  std::ranges::reverse(words);
  CLI::App options;
  add_kernel_options(options, request);
  try {
    options.parse(words);
  } catch (const CLI::ParseError& error) {
    Fault fault(Outcome::invalid, "merge.settings", text("its options cannot be read: ", error.what()));
    fault.place = shard.name;
    throw fault;
  }
}

int merge(Request& request) {
  std::vector<ShardFile> shards;
  for (const std::string& file : request.files) shards.push_back(open_shard(file));
  const int workers = request.kernels.suite.workers;
  take_options(shards.front(), request.kernels);
  request.kernels.suite.workers = workers;
  return KernelRun(request.kernels).merge(shards);
}

}  // namespace

void add_merge(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("merge", "Makes one run of the shards of assay kernels --shard");
  const auto r = std::make_shared<Request>();
  command->add_option("SHARD", r->files, "Their files, all of them, in any order")->required();
  command->add_option("--testee", r->kernels.run.testee, testee_help)->required();
  add_workers(*command, r->kernels.suite.workers);
  add_run_options(*command, r->kernels.run).lines->required();
  command->footer(
      "What is found here are the causes of failures, for which the testee is called; but for times the run is as one "
      "that was "
      "never cut. Exit codes are those of assay kernels.\n\nExample:\n  assay merge part-*.jsonl --testee "
      "./libmine.so -o run.jsonl");
  command->callback([r, &exit_code] { exit_code = merge(*r); });
}

}  // namespace assay
