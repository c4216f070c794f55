#include "format/text.h"

#include <algorithm>
#include <charconv>

namespace assay::format {
namespace {

constexpr std::string_view cut_off = "...";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The number of bytes of the UTF-8 character at the beginning of the text; 0 if there is none.
std::size_t length_of_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size() || !std::all_of(text.begin() + 1, text.begin() + length, continues)) return 0;
  const auto second = static_cast<unsigned char>(length > 1 ? text[1] : '\0');
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90),
             surrogate = first == 0xed && second >= 0xa0, beyond_unicode = first == 0xf4 && second >= 0x90;
  return too_long || surrogate || beyond_unicode ? 0 : length;
}

std::uint32_t code_point(std::string_view character) {
  std::uint32_t code = static_cast<unsigned char>(character[0]);
  if (character.size() > 1) code &= 0x7fu >> character.size();
  for (character.remove_prefix(1); const char c : character) code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return code;
}

bool acts(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

template <class Number>
std::string_view decimal(Number n, std::array<char, 20>& digits) {
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr};
}

}  // namespace

Character::Character(std::string_view text)
    : bytes(text.data(), std::min(text.size(), std::max<std::size_t>(length_of_character(text), 1))),
      shows(length_of_character(text) > 0 && !acts(code_point(bytes))) {}

Text& Text::add(const Part& part) {
  std::array<char, 20> digits;
  switch (part.kind_) {
    case Part::Kind::literal:
      put(part.literal_);
      break;
    case Part::Kind::text:
      put(part.text_);
      break;
    case Part::Kind::quoted:
      put_quoted(part.text_, part.most_);
      break;
    case Part::Kind::character:
      digits[0] = static_cast<char>(part.number_);
      put({digits.data(), 1});
      break;
    case Part::Kind::signed_number:
      put(decimal(static_cast<std::int64_t>(part.number_), digits));
      break;
    case Part::Kind::number:
      put(decimal(part.number_, digits));
  }
  return *this;
}

Text& Text::add(const char* text) {
  put(text);
  return *this;
}

void Text::put(std::string_view text) {
  if (full_) return;
  const std::size_t fitting = std::min(text.size(), buffer_.size() - size_);
  std::copy_n(text.begin(), fitting, buffer_.begin() + size_);
  size_ += fitting;
  full_ = fitting < text.size();
  if (!full_) return;
  size_ -= cut_off.size();
  while (continues(buffer_[size_])) --size_;
  std::ranges::copy(cut_off, buffer_.begin() + size_);
  size_ += cut_off.size();
}

void Text::put_quoted(std::string_view text, std::size_t most) {
  put("\"");
  std::string_view rest = text;
  while (!rest.empty() && text.size() - rest.size() < most) {
    const Character first(rest);
    put_character(first);
    rest.remove_prefix(first.bytes.size());
  }
  put(rest.empty() ? "\"" : "...\"");
}

void Text::put_character(const Character& character) {
  if (character.shows) {
    if (character.bytes == "\"" || character.bytes == "\\") put("\\");
    put(character.bytes);
    return;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : character.bytes) {
    const auto byte = static_cast<unsigned char>(c);
    put("\\x");
    put({&digits[byte >> 4], 1});
    put({&digits[byte & 15], 1});
  }
}

}  // namespace assay::format
