#include "conformance/text/base64.h"

#include <array>
#include <cstdint>

namespace assay::text {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xff;

constexpr auto digit_of = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    digits[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return digits;
}();

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  std::size_t at = 0;
  unsigned bits = 0;
  int waiting = 0;  // bits not yet written
  for (const std::byte b : bytes) {
    bits = bits << 8 | std::to_integer<unsigned>(b);
    for (waiting += 8; waiting >= 6; waiting -= 6) text[at++] = alphabet[bits >> (waiting - 6) & 63];
  }
  if (waiting > 0) text[at] = alphabet[bits << (6 - waiting) & 63];
  return text;
}

std::optional<Buffer<std::byte>> bytes_of_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.ends_with('=')) text.remove_suffix(text.ends_with("==") ? 2 : 1);
  Buffer<std::byte> bytes(text.size() * 3 / 4);
  std::size_t at = 0;
  unsigned bits = 0;
  int waiting = 0;  // bits not yet stored
  for (const char c : text) {
    const std::uint8_t digit = digit_of[static_cast<unsigned char>(c)];
    if (digit == no_digit) return std::nullopt;
    bits = bits << 6 | digit;
    waiting += 6;
    if (waiting < 8) continue;
    waiting -= 8;
    bytes[at++] = static_cast<std::byte>(bits >> waiting & 0xff);
  }
  if (bits & ((1u << waiting) - 1)) return std::nullopt;
  return bytes;
}

}  // namespace assay::text
