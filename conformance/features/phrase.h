#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace assay::features {

// An interned string: copies and comparisons for equality cost as much as those of a pointer. Never freed: use it for
// small sets of texts. Thread-safe.
class Phrase {
 public:
  Phrase(std::string_view text);
  Phrase(const std::string& text) : Phrase(std::string_view(text)) {}
  Phrase(const char* text) : Phrase(std::string_view(text)) {}

  const std::string& text() const { return *text_; }
  operator std::string_view() const { return *text_; }

  friend bool operator==(Phrase a, Phrase b) { return a.text_ == b.text_; }
  friend std::strong_ordering operator<=>(Phrase a, Phrase b) {  // the order of the texts
    return a == b ? std::strong_ordering::equal : a.text() <=> b.text();
  }

  // The address of the text: a key for a fast order without a look at the texts. The order differs between processes.
  const std::string* place() const { return text_; }

 private:
  const std::string* text_;
};

}  // namespace assay::features
