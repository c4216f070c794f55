#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

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
CLI::Option* add_part(CLI::App& command, Part& part, CLI::Option* lines);

void add_facts(Facts& settings, const Part& part);  // of a header

// The records of a run that was interrupted while it wrote this file.
// Throws Fault (invalid, run.resume) where its header is not this line.
std::vector<Record> records_of_interrupted(const std::string& file, const std::string& header);

// Of those the records of whole blocks, which are planned no more; none unless the part goes on with it.
template <class Block>
std::vector<Record> take_judged(const Part& part, const std::string& file, const std::string& header,
                                std::vector<Block>& blocks) {
  if (!part.resume) return {};
  std::vector<Record> records = records_of_interrupted(file, header);
  std::size_t cases = 0;
  auto block = blocks.begin();
  for (; block != blocks.end() && cases + block->size() <= records.size(); ++block) cases += block->size();
  records.resize(cases);
  blocks.erase(blocks.begin(), block);
  return records;
}

// Options that decide what a run is, as words of a command: those that were given.
using Deciding = std::vector<const CLI::Option*>;
std::vector<std::string> given(const Deciding& options);

}  // namespace assay
