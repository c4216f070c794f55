#pragma once

#include <string>
#include <vector>

#include "conformance/report/facts.h"
#include "conformance/report/run_file.h"
#include "conformance/runner/laboratory.h"

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

// The records of all of them as the blocks have their cases. Faults: merge.case where one is missing, or none of the
// run's, or there twice.
std::vector<Record> in_order_of(const std::vector<Block>& blocks, const std::vector<ShardFile>& shards);

}  // namespace assay
