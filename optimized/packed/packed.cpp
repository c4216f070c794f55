#include "optimized/packed/packed.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace assay::optimized {
namespace {

using Bytes = std::span<const std::byte>;
using Digest = std::array<std::byte, 16>;  // the canonical form of a 128-bit XXH3

// Numbers are little-endian.
struct Header {
  std::array<char, 12> identifier = {'a', 's', 's', 'a', 'y', ' ', 'p', 'a', 'c', 'k', 'e', 'd'};
  // Increment it when kernels pack differently in as many bytes: packed_test knows the digests.
  std::uint32_t version = 6;
  std::uint64_t size = 0;  // the number of bytes behind the header
  std::uint64_t layout = 0;
  Digest program{};  // the digest of the program's files
  Digest digest{};   // the digest of all other bytes of this file
};
static_assert(sizeof(Header) == alignment && std::has_unique_object_representations_v<Header>);

XXH128_hash_t hash(Bytes bytes, std::uint64_t seed) { return XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed); }

Digest canonical(XXH128_hash_t of) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, of);
  Digest digest;
  std::memcpy(digest.data(), &bytes, sizeof digest);
  return digest;
}

Digest digest_of(const Program& program) {
  XXH128_hash_t all{};
  const auto add = [&](Bytes bytes) { all = hash(bytes, all.low64 ^ all.high64); };
  add(program.view().bytes), add(program.view().segments);
  for (const format::DataView& data : program.data()) add(data.bytes), add(data.segments);
  return canonical(all);
}

Digest digest_of(const Header& header, Bytes constants) {
  const std::uint64_t seed = hash(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, digest)), 0).low64;
  return canonical(hash(constants, seed));
}

}  // namespace

std::uint64_t packed_file_size(const Method& method) { return sizeof(Header) + method.packed().bytes.size(); }

bool save_packed(const Program& program, const Method& method, std::span<std::byte> to, Fault& fault) {
  if (to.size() < packed_file_size(method))
    return refuse(fault, "V4", nowhere, "packed constants need ", packed_file_size(method),
                  " bytes, more than were supplied");
  const KeptConstants& packed = method.packed();
  Header header{.size = packed.bytes.size(), .layout = packed.layout, .program = digest_of(program)};
  header.digest = digest_of(header, packed.bytes);
  std::ranges::copy(std::as_bytes(std::span(&header, 1)), to.begin());
  std::ranges::copy(packed.bytes, to.begin() + sizeof header);
  return true;
}

std::optional<KeptConstants> open_packed(const Program& program, Bytes file, Fault& fault) {
  const auto refused = [&](format::RuleId rule, const char* why) {
    refuse(fault, rule, why);
    return std::nullopt;
  };
  Header header, expected;
  if (file.size() < sizeof header) return refused("P1", "the file is shorter than a header of packed constants");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.identifier != expected.identifier)
    return refused("P1", "the file does not begin as a file of packed constants does");
  if (header.version != expected.version) return refused("P2", "the packed constants have another version");
  const Bytes constants = file.subspan(sizeof header);
  if (header.size != constants.size() || reinterpret_cast<std::uintptr_t>(file.data()) % alignment != 0)
    return refused(
        "P3", "the packed constants do not have the length that their header states, or are not aligned to 64 bytes");
  if (header.digest != digest_of(header, constants))
    return refused("P4", "the packed constants were changed after they were written");
  if (header.program != digest_of(program)) return refused("P5", "the packed constants belong to another program");
  return KeptConstants{constants, header.layout};
}

}  // namespace assay::optimized
