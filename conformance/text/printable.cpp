#include "conformance/text/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/text.h"

namespace assay::text {
namespace {

// Escapes a text and cuts it after `most` bytes. Within quotes, quotes and backslashes are escaped too.
std::string escaped(std::string_view text, std::size_t most, bool in_quotes) {
  std::string all;
  for (std::string_view rest = text; !rest.empty();) {
    const format::Character c(rest);
    rest.remove_prefix(c.bytes.size());
    if (text.size() - rest.size() > most) return all + "...";
    if (in_quotes && (c.bytes == "\"" || c.bytes == "\\")) all += '\\';
    if (c.shows)
      all += c.bytes;
    else
      for (const char byte : c.bytes) all += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
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

std::string printable(std::string_view sentence, std::size_t most) { return escaped(sentence, most, false); }

std::string printable_lines(std::string_view text) {
  std::string all;
  while (true) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    all += printable(text.substr(0, end), std::string::npos);
    if (end == text.size()) return all;
    all += text[end];
    text.remove_prefix(end + 1);
  }
}

std::string in_quotes(std::string_view text) { return '"' + escaped(text, most_shown, true) + '"'; }

std::string shown(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= most_shown && std::ranges::all_of(name, is_plain);
  return plain ? std::string(name) : in_quotes(name);
}

}  // namespace assay::text
