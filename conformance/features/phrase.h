#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace assay {

// A text of which there is one copy: as cheap to copy as a pointer, and to tell from another. Never forgotten, so for
// texts of which there are few. May be used by many threads.
class Phrase {
 public:
  Phrase(std::string_view text);
  Phrase(const std::string& text) : Phrase(std::string_view(text)) {}
  Phrase(const char* text) : Phrase(std::string_view(text)) {}

  const std::string& text() const { return *text_; }
  operator std::string_view() const { return *text_; }

  friend bool operator==(Phrase a, Phrase b) { return a.text_ == b.text_; }
  friend std::strong_ordering operator<=>(Phrase a, Phrase b) {  // of the texts
    return a == b ? std::strong_ordering::equal : a.text() <=> b.text();
  }

  // An order that takes no look at the texts, another in each process.
  const std::string* place() const { return text_; }

 private:
  const std::string* text_;
};

}  // namespace assay
