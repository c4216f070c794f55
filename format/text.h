#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Builds sentences in memory of a fixed size, without allocation. A text that does not fit is cut.
namespace assay::format {

// The first UTF-8 character (RFC 3629) of a text, or its first byte if the text does not begin with a valid character.
// Requires a text that is not empty.
struct Character {
  explicit Character(std::string_view text);

  std::string_view bytes;
  // Whether the character is visible: it moves no cursor, begins no line and does not change the direction of writing.
  bool shows;
};

// A text that comes from a file. It is shown in quotes and is cut after `most` bytes. Control characters, quotes and
// invalid UTF-8 are escaped. Therefore the text can neither begin new lines nor fill an output.
struct Quoted {
  std::string_view text;
  std::size_t most = 64;
};

// A part of a sentence: a text, a quoted text, a character or an integer.
class Part {
 public:
  Part(const char* text) : kind_(Kind::literal), literal_(text) {}
  template <std::convertible_to<std::string_view> T>
  Part(const T& text) : kind_(Kind::text), text_(text) {}
  Part(const Quoted& text) : kind_(Kind::quoted), most_(static_cast<std::uint32_t>(text.most)), text_(text.text) {}
  Part(char c) : kind_(Kind::character), number_(static_cast<unsigned char>(c)) {}
  template <std::integral T>
  Part(T n)
      : kind_(std::signed_integral<T> ? Kind::signed_number : Kind::number), number_(static_cast<std::uint64_t>(n)) {}

 private:
  friend class Text;
  enum class Kind : std::uint8_t { literal, text, quoted, character, signed_number, number };
  // A constructor sets only the members that its kind needs, and the length of a literal is not counted. Sentences are
  // built in many places, where each instruction counts.
  Kind kind_;
  std::uint32_t most_;  // the largest number of bytes of a quoted text
  union {
    const char* literal_;
    std::string_view text_;
    std::uint64_t number_;
  };
};

class Text {
 public:
  std::string_view view() const { return {buffer_.data(), size_}; }

  Text& add(const Part& part);  // Appends the part. A text that is cut ends in "...".
  Text& add(const char* text);  // the same for a literal, of which callers need no Part

 private:
  void put(std::string_view text);
  void put_quoted(std::string_view text, std::size_t most);
  void put_character(const Character& character);

  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
  bool full_ = false;
};

}  // namespace assay::format
