#include "conformance/text/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

struct Character {
  char32_t code;     // of a byte that is no UTF-8, the byte
  std::size_t size;  // bytes
  bool valid;
};

// The first character of a text that is not empty. RFC 3629: the shortest form, no surrogates, at most U+10FFFF.
Character first_of(std::string_view text) {
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // of each size
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
  const Character no_character{lead, 1, false};
  if (size == 0 || size > text.size()) return no_character;
  char32_t code = size == 1 ? lead : lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return no_character;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool valid = code >= least[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return valid ? Character{code, size, true} : no_character;
}

// Control characters, separators of lines and paragraphs, and marks of direction.
bool acts(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0x61c || c == 0xfeff;
}

void append(std::string& to, std::string_view bytes, const Character& c, std::string_view also) {
  if (c.valid && !acts(c.code) && (c.code >= 0x80 || also.find(static_cast<char>(c.code)) == std::string_view::npos))
    to += bytes;
  else if (c.valid && c.code >= 0x80)
    to += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
  else
    to +=
        acts(c.code) || !c.valid ? fmt::format("\\x{:02x}", static_cast<unsigned>(c.code)) : '\\' + std::string(bytes);
}

// Cut behind `most` bytes; `also` are escaped too.
std::string escaped(std::string_view text, std::size_t most, std::string_view also) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = first_of(text.substr(at));
    if (at + c.size > most) return all + "...";
    append(all, text.substr(at, c.size), c, also);
    at += c.size;
  }
  return all;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(".:_-/").find(c) != std::string_view::npos;
}

}  // namespace

std::string cut(std::string_view name) {
  return std::string(name.substr(0, most_shown)) + (name.size() > most_shown ? "..." : "");
}

std::string printable(std::string_view sentence, std::size_t most) { return escaped(sentence, most, ""); }

std::string quoted(std::string_view text) { return '"' + escaped(text, most_shown, "\"\\") + '"'; }

std::string shown(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= most_shown && std::ranges::all_of(name, is_plain);
  return plain ? std::string(name) : quoted(name);
}

}  // namespace assay
