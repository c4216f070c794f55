#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/report/facts.h"
#include "conformance/report/run_file.h"
#include "conformance/runner/shard.h"

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

// The records of the whole blocks, of so many cases each, that a run which was interrupted while it wrote this file has
// judged, and how many blocks that are. Throws Fault (invalid, run.resume) where its header is not this line.
struct Resumed {
  std::size_t blocks = 0;
  std::vector<Record> records;
};
Resumed resumed(const std::string& file, const std::string& header, const std::vector<std::size_t>& blocks);

// --shard and --resume, which need the lines of -o.
CLI::Option* add_shard(CLI::App& command, std::optional<Shard>& shard, CLI::Option* lines);
void add_resume(CLI::App& command, bool& resume, CLI::Option* lines);

// Options that decide what a run is, as words of a command: those that were given.
using Deciding = std::vector<const CLI::Option*>;
std::vector<std::string> given(const Deciding& options);

}  // namespace assay
