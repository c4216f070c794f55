#include "conformance/runner/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "conformance/text/digest.h"

namespace assay::runner {
namespace {

std::uint64_t digest_of_ids(Ids ids) {
  std::ranges::sort(ids);
  std::string all;
  for (const std::string& id : ids) all += id + '\n';
  return text::digest(all);
}

}  // namespace

std::vector<Ids> Shard::part_of(std::vector<Ids> blocks) const {
  std::vector<std::uint64_t> digests;
  for (const Ids& block : blocks) digests.push_back(digest_of_ids(block));
  std::vector<std::uint64_t> sorted = digests;
  std::ranges::sort(sorted);
  std::vector<Ids> part;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto rank = static_cast<std::uint64_t>(std::ranges::lower_bound(sorted, digests[i]) - sorted.begin());
    if (rank % of == number - 1) part.push_back(std::move(blocks[i]));
  }
  return part;
}

std::optional<Shard> shard_from(std::string_view text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, bad] = std::from_chars(text.data(), end, shard.number);
  if (bad != std::errc{} || slash == end || *slash != '/') return {};
  const auto [rest, worse] = std::from_chars(slash + 1, end, shard.of);
  if (worse != std::errc{} || rest != end || shard.number < 1 || shard.number > shard.of) return {};
  return shard;
}

std::string to_text(const Shard& shard) { return fmt::format("{}/{}", shard.number, shard.of); }

std::string suite_digest(Ids ids) { return text::digits_of(digest_of_ids(std::move(ids))); }

Ids ids_of(const std::vector<Block>& blocks) {
  Ids ids;
  for (const Block& block : blocks)
    for (const cases::CaseId& id : block) ids.push_back(cases::to_text(id));
  return ids;
}

}  // namespace assay::runner
