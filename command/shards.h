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
  Facts facts;  // of the header
  RunFile run;
};

// Faults: merge.shard if the file is not of a shard, merge.cut if the shard did not end, those of open_run.
ShardFile open_shard(const std::string& file);

const std::string& fact_of(const ShardFile& shard, const std::string& name);  // empty if the header lacks it

// Requires that each shard is there once (merge.double, merge.missing), and that all facts of the headers but the
// machine are those of `settings` (merge.settings).
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

void add_facts(Facts& settings, const Part& part);  // to the header

// The records of whole blocks that a run judged before it was interrupted while it wrote this file; the blocks are
// taken out of `blocks`. None unless the part resumes a run. Throws Fault (invalid, run.resume) where the header of the
// file is another line.
std::vector<Record> take_judged(const Part& part, const std::string& file, const std::string& header,
                                std::vector<Ids>& blocks);

// Options that decide which records a run gives. `given` are those of a command line, as its words.
using Deciding = std::vector<Option>;
std::vector<std::string> given(const Deciding& options);

}  // namespace assay
