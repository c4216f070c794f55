#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay::text {

// FNV-1a of 64 bits.
std::uint64_t digest(std::string_view bytes);
std::uint64_t digest(std::span<const std::byte> bytes);

// The digest as 16 hexadecimal digits.
std::string digits_of(std::uint64_t digest);

}  // namespace assay::text
