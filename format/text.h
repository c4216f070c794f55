#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Sentences in fixed memory: nothing here allocates, and what does not fit is cut.
namespace assay::format {

// The first character of a text that is not empty, or its first byte where it begins with none (RFC 3629).
struct Character {
  explicit Character(std::string_view text);

  std::string_view bytes;
  bool shows;  // it is one that neither moves a terminal's cursor, begins a line, turns the direction of writing, nor
               // hides
};

// A text that comes from a file: it is shown in quotes, with control characters, quotes and bytes that are no UTF-8
// escaped, and cut after `most` bytes, so that it can neither forge lines nor flood an output.
struct Quoted {
  std::string_view text;
  std::size_t most = 64;
};

class Text {
 public:
  std::string_view view() const { return {buffer_.data(), size_}; }

  Text& add(std::string_view text);  // the end is "..." where it was cut
  Text& add(const Quoted& text);
  Text& add(char c) { return add(std::string_view(&c, 1)); }
  Text& add(std::int64_t n);
  Text& add(std::uint64_t n);
  template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>) Text& add(T n) {
    if constexpr (std::signed_integral<T>)
      return add(static_cast<std::int64_t>(n));
    else
      return add(static_cast<std::uint64_t>(n));
  }

 private:
  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
  bool full_ = false;
};

}  // namespace assay::format
