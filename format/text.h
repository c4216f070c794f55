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

// A part of a sentence.
class Part {
 public:
  template <std::convertible_to<std::string_view> T>
  Part(const T& text) : kind_(Kind::text), text_(text) {}
  Part(const Quoted& text) : kind_(Kind::quoted), text_(text.text), number_(text.most) {}
  Part(char c) : kind_(Kind::character), number_(static_cast<unsigned char>(c)) {}
  template <std::integral T>
  Part(T n)
      : kind_(std::signed_integral<T> ? Kind::signed_number : Kind::number), number_(static_cast<std::uint64_t>(n)) {}

 private:
  friend class Text;
  enum class Kind : std::uint8_t { text, quoted, character, signed_number, number };
  Kind kind_;
  std::string_view text_;
  std::uint64_t number_ = 0;
};

class Text {
 public:
  std::string_view view() const { return {buffer_.data(), size_}; }

  Text& add(const Part& part);  // the end is "..." where it was cut

 private:
  void put(std::string_view text);
  void put_quoted(std::string_view text, std::size_t most);
  void put_character(const Character& character);

  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
  bool full_ = false;
};

}  // namespace assay::format
