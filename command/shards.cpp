#include "command/shards.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "command/output_file.h"
#include "command/runs.h"
#include "conformance/wire/address.h"
#include "reference/fault.h"

namespace assay {
namespace {

template <class... Parts>
[[noreturn]] void refuse(const std::string& file, const char* rule, const Parts&... sentence) {
  Fault fault(Outcome::invalid, rule, text(sentence...));
  fault.place = file;
  throw fault;
}

// Facts in which the shards of one run may differ.
constexpr std::array own{"machine", "shard", "options", "cases"};

std::string said(const Facts& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &NamedText::name);
  return found == facts.end() ? "nothing" : found->text;
}

void require_settings(const ShardFile& shard, const Facts& settings) {
  const auto require = [&](const NamedText& fact) {
    const bool is_own = std::ranges::find(own, fact.name) != own.end();
    if (is_own || said(shard.facts, fact.name) == said(settings, fact.name)) return;
    refuse(shard.name, "merge.settings", "its ", fact.name, " is ", said(shard.facts, fact.name),
           ", but of the run that is made of it ", said(settings, fact.name));
  };
  std::ranges::for_each(shard.facts, require);
  std::ranges::for_each(settings, require);
}

std::vector<Record> records_of_interrupted(const std::string& file, const std::string& header) {
  const std::string part = OutputFile::part_of(file);
  RunFile run = open_run(std::filesystem::exists(part) ? part : file);
  if (run.header != header)
    throw Fault(Outcome::invalid, "run.resume", text(file, " is of another run: its first line must be ", header));
  return std::move(run.records);
}

}  // namespace

ShardFile open_shard(const std::string& file) {
  ShardFile shard{file, {}, open_run(file)};
  shard.facts = facts_of_header(shard.run.header);
  if (!shard_from(fact_of(shard, "shard")))
    refuse(file, "merge.shard", "it is no shard of a run, as --shard writes it");
  if (!shard.run.complete) refuse(file, "merge.cut", "the shard did not end: --resume goes on with it");
  return shard;
}

const std::string& fact_of(const ShardFile& shard, const std::string& name) {
  static const std::string nothing;
  const auto found = std::ranges::find(shard.facts, name, &NamedText::name);
  return found == shard.facts.end() ? nothing : found->text;
}

void require_alike(const std::vector<ShardFile>& shards, const Facts& settings) {
  const std::uint64_t of = shard_from(fact_of(shards.front(), "shard"))->of;
  std::map<std::uint64_t, std::string> files;
  for (const ShardFile& shard : shards) {
    require_settings(shard, settings);
    const Shard part = *shard_from(fact_of(shard, "shard"));
    if (part.of != of)
      refuse(shard.name, "merge.settings", "it is one of ", part.of, " shards, but ", shards.front().name, " one of ",
             of);
    const auto [first, is_new] = files.emplace(part.number, shard.name);
    if (!is_new) refuse(shard.name, "merge.double", "it is shard ", to_text(part), ", but so is ", first->second);
  }
  for (std::uint64_t i = 1; i <= of; ++i)
    if (!files.contains(i)) refuse({}, "merge.missing", "there is no file of shard ", to_text(Shard{i, of}));
}

std::string machines_of(const std::vector<ShardFile>& shards) {
  std::string all;
  std::set<std::string> seen;
  for (const ShardFile& shard : shards)
    if (const std::string& machine = fact_of(shard, "machine"); seen.insert(machine).second)
      all += (all.empty() ? "" : "; ") + machine;
  return all;
}

std::vector<Record> in_order_of(const Ids& cases, const std::vector<ShardFile>& shards) {
  struct InShard {
    const ShardFile* in;
    const Record* record;
  };
  std::unordered_map<std::string_view, InShard> by_id;
  for (const ShardFile& shard : shards)
    for (const Record& r : shard.run.records)
      if (!by_id.emplace(r.case_id, InShard{&shard, &r}).second)
        refuse(shard.name, "merge.case", "the case ", r.case_id, " is there twice");
  std::vector<Record> records;
  for (const std::string& id : cases) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) refuse({}, "merge.case", "no shard has the case ", id);
    records.push_back(*found->second.record);
    by_id.erase(found);
  }
  if (!by_id.empty())
    refuse(by_id.begin()->second.in->name, "merge.case", "the case ", by_id.begin()->first, " is none of the run");
  return records;
}

std::vector<Record> take_judged(const Part& part, const std::string& file, const std::string& header,
                                std::vector<Ids>& blocks) {
  if (!part.resume) return {};
  std::vector<Record> records = records_of_interrupted(file, header);
  std::size_t cases = 0;
  auto block = blocks.begin();
  for (; block != blocks.end() && cases + block->size() <= records.size(); ++block) cases += block->size();
  records.resize(cases);
  blocks.erase(blocks.begin(), block);
  return records;
}

void add_facts(Facts& settings, const Part& part) {
  if (!part.shard) return;
  settings.push_back({"shard", to_text(*part.shard)});
  settings.push_back({"options", wire::quoted(part.options)});
}

Option add_part(Options& options, Part& part, const Option& lines) {
  options.flag("--resume", part.resume, "Continues the interrupted run that wrote the beginning of the file of -o")
      .needs(lines);
  const auto take = [&part](const std::string& given) {
    part.shard = shard_from(given);
    return part.shard ? std::string() : text(given, " is no part of a run, such as 2/8");
  };
  return options
      .add_parsed(
          "--shard", take,
          "Splits the cases into N parts and judges only part I, such as 2/8; assay merge makes one run of all parts")
      .value("I/N")
      .needs(lines);
}

std::vector<std::string> given(const Deciding& options) {
  std::vector<std::string> all;
  for (const Option& option : options) {
    const std::vector<std::string> words = option.words();
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

}  // namespace assay
