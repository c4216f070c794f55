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

bool Shard::has(const Ids& block) const { return digest_of_ids(block) % of == number - 1; }

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
