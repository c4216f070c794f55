#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Sentences in fixed memory: nothing here allocates, and a text that does not fit is cut.
namespace assay::format {

// The first character of a text that is not empty, or the first byte if the text does not begin with a UTF-8 character
// (RFC 3629).
struct Character {
  explicit Character(std::string_view text);

  std::string_view bytes;
  bool shows;  // it is visible: it does not move a cursor, begin a line or turn the direction of writing
};

// A text that comes from a file. It is shown in quotes; control characters, quotes and invalid UTF-8 are escaped, and
// the text is cut after `most` bytes, so that it can neither forge lines nor flood an output.
struct Quoted {
  std::string_view text;
  std::size_t most = 64;
};

// A part of a sentence.
class Part {
 public:
  template <std::convertible_to<std::string_view> T>
  Part(const T& text) : kind_(Kind::text), text_(text) {}
  Part(const Quoted& text) : kind_(Kind::quoted), most_(static_cast<std::uint32_t>(text.most)), text_(text.text) {}
  Part(char c) : kind_(Kind::character), number_(static_cast<unsigned char>(c)) {}
  template <std::integral T>
  Part(T n)
      : kind_(std::signed_integral<T> ? Kind::signed_number : Kind::number), number_(static_cast<std::uint64_t>(n)) {}

 private:
  friend class Text;
  enum class Kind : std::uint8_t { text, quoted, character, signed_number, number };
  // Nothing is set that the kind does not need: sentences are made in many places, and each store is code.
  Kind kind_;
  std::uint32_t most_;  // bytes of a quoted text
  union {
    std::string_view text_;
    std::uint64_t number_;
  };
};

class Text {
 public:
  std::string_view view() const { return {buffer_.data(), size_}; }

  Text& add(const Part& part);  // a cut text ends in "..."

 private:
  void put(std::string_view text);
  void put_quoted(std::string_view text, std::size_t most);
  void put_character(const Character& character);

  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
  bool full_ = false;
};

}  // namespace assay::format
