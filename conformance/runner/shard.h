#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runner/case_runner.h"

namespace assay::runner {

using Ids = std::vector<std::string>;  // of cases

// One part of a run that several machines judge; `index` counts from 1. A block belongs to a shard by its cases, in
// every order and on every machine alike.
struct Shard {
  std::uint64_t number = 1, of = 1;

  bool has(const Ids& block) const;
  bool operator==(const Shard&) const = default;
};

std::optional<Shard> shard_from(std::string_view text);  // "2/8"; none if it is not a shard
std::string to_text(const Shard& shard);

// Identifies a suite by the ids of all its cases, independent of their order: 16 digits.
std::string suite_digest(Ids ids);

Ids ids_of(const std::vector<Block>& blocks);

}  // namespace assay::runner
