#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runner/case_runner.h"

namespace assay::runner {

using Ids = std::vector<std::string>;  // of cases

// One part of a run that several machines judge; `number` counts from 1.
struct Shard {
  std::uint64_t number = 1, of = 1;

  // The blocks of this shard, in the given order. The numbers of blocks of two shards differ by at most one. A block
  // belongs to the same shard in every order of the blocks and on every machine.
  std::vector<Ids> part_of(std::vector<Ids> blocks) const;
  bool operator==(const Shard&) const = default;
};

std::optional<Shard> shard_from(std::string_view text);  // "2/8"; none if it is not a shard
std::string to_text(const Shard& shard);

// Identifies a suite by the ids of all its cases, independent of their order: 16 digits.
std::string suite_digest(Ids ids);

Ids ids_of(const std::vector<Block>& blocks);

}  // namespace assay::runner
