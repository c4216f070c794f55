#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/options.h"
#include "conformance/runner/shard.h"
#include "conformance/verdict/facts.h"
#include "conformance/verdict/run_file.h"

// The files of the shards of one run. Everything here throws Fault (invalid, merge.*) whose place is the file.
namespace assay {

struct ShardFile {
  std::string name;
  Facts facts;  // of its header
  RunFile run;
};

// Faults: merge.shard where it is of no shard, merge.cut where that did not end, those of open_run.
ShardFile open_shard(const std::string& file);

const std::string& fact_of(const ShardFile& shard, const std::string& name);  // empty where its header does not say it

// That each shard is there once: merge.double, merge.missing; and that but for the machine their headers say what these
// settings say: merge.settings.
void require_alike(const std::vector<ShardFile>& shards, const Facts& settings);

std::string machines_of(const std::vector<ShardFile>& shards);

// The records of all of them in the order of these cases. Faults: merge.case where one is missing, or none of the
// run's, or there twice.
std::vector<Record> in_order_of(const Ids& cases, const std::vector<ShardFile>& shards);

// What of a run is to be judged: one of its shards, and what an interrupted run has not.
struct Part {
  std::optional<Shard> shard;
  bool resume = false;
  std::vector<std::string> options;  // that decide which records the run gives, those that were given, as words
};

// --shard, which is returned, and --resume; both need the lines of -o.
Option add_part(Options& options, Part& part, const Option& lines);

void add_facts(Facts& settings, const Part& part);  // of a header

// The records of whole blocks that a run judged before it was interrupted while it wrote this file; the blocks are
// taken out of `blocks`. None unless the part resumes a run. Throws Fault (invalid, run.resume) where the header of the
// file is another line.
std::vector<Record> take_judged(const Part& part, const std::string& file, const std::string& header,
                                std::vector<Ids>& blocks);

// Options that decide what a run is, as words of a command: those that were given.
using Deciding = std::vector<Option>;
std::vector<std::string> given(const Deciding& options);

}  // namespace assay
