#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runner/case_runner.h"

namespace assay {

using Ids = std::vector<std::string>;  // of cases

// One of the parts in which a run is judged by several machines, from 1 on. A block is in it by the cases that it has:
// the same in every order and on every machine.
struct Shard {
  std::uint64_t number = 1, of = 1;

  bool has(const Ids& block) const;
  bool operator==(const Shard&) const = default;
};

std::optional<Shard> shard_from(std::string_view text);  // "2/8"; none where it is no part
std::string to_text(const Shard& shard);

// Which suite it is, by the ids of all its cases in whatever order: 16 digits.
std::string suite_digest(Ids ids);

Ids ids_of(const std::vector<Block>& blocks);

}  // namespace assay
