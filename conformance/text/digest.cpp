#include "conformance/text/digest.h"

#include <fmt/format.h>

namespace assay::text {

std::uint64_t digest(std::string_view bytes) {
  std::uint64_t state = 0xcbf29ce484222325u;
  for (const char c : bytes) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return state;
}

std::uint64_t digest(std::span<const std::byte> bytes) {
  return digest(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::string digits_of(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

}  // namespace assay::text
