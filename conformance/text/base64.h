#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "reference/budget.h"

// Base64 of RFC 4648, section 4.
namespace assay::text {

std::string base64(std::span<const std::byte> bytes);

// None unless the text is what `base64` writes: padded, without other characters, and with unused bits of zero.
std::optional<Buffer<std::byte>> bytes_of_base64(std::string_view text);

}  // namespace assay::text
