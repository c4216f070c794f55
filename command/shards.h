#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/options.h"
#include "conformance/runner/shard.h"
#include "conformance/verdict/facts.h"
#include "conformance/verdict/run_file.h"

// The files of the shards of one run. Functions throw Fault (invalid, merge.*) whose place is the file.
namespace assay {

struct ShardFile {
  std::string name;
  Facts facts;  // the facts in the header
  RunFile run;
};

// Opens the file of a shard. Faults: merge.shard if the file is not the file of a shard, merge.cut if the shard did not
// end, and the faults of open_run.
ShardFile open_shard(const std::string& file);

const std::string& fact_of(const ShardFile& shard, const std::string& name);  // empty if the header lacks it

// Checks that each shard is given once (merge.double, merge.missing) and that all facts of the headers, except the
// machine, are equal to `settings` (merge.settings).
void require_alike(const std::vector<ShardFile>& shards, const Facts& settings);

std::string machines_of(const std::vector<ShardFile>& shards);

// The records of all shards in the order of these cases. Fault merge.case: a case is missing, is there twice, or is not
// of the run.
std::vector<Record> in_order_of(const Ids& cases, const std::vector<ShardFile>& shards);

// Which part of a run is judged: one shard, or the cases that an interrupted run has not judged.
struct Part {
  std::optional<Shard> shard;
  bool resume = false;
  std::vector<std::string> options;  // the given options that decide which records the run gives, as words
};

// --shard, which is returned, and --resume; both need the lines of -o.
Option add_part(Options& options, Part& part, const Option& lines);

void add_facts(Facts& settings, const Part& part);  // adds the facts of a part to the header

// Returns the records of the whole blocks that an interrupted run wrote to this file, and removes these blocks from
// `blocks`. Returns no records if the part does not resume a run. Throws Fault (invalid, run.resume) if the file has
// another header.
std::vector<Record> take_judged(const Part& part, const std::string& file, const std::string& header,
                                std::vector<Ids>& blocks);

// Options that decide which records a run writes. `given` are the words of a command line that set them.
using Deciding = std::vector<Option>;
std::vector<std::string> given(const Deciding& options);

}  // namespace assay
