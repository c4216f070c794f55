#pragma once

#include <cstddef>
#include <ctime>
#include <string_view>

#include "conformance/text/json.h"
#include "reference/fault.h"

// What must hold of every input, whatever it says. What does not ends the process with a sentence that begins with the
// oracle's name; whatever a sanitizer says does so too.
namespace assay::fuzz {

[[noreturn]] void found(std::string_view oracle, const std::string& sentence);

template <class... Parts>
void must(bool holds, std::string_view oracle, const Parts&... sentence) {
  if (!holds) found(oracle, text(sentence...));
}

// Oracle "text": UTF-8 without control characters but newlines. Oracle "output": of at most `most` bytes.
void check_text(std::string_view text, std::size_t most);
// Oracle "json": the line reads back as the same JSON; it is a text too.
void check_json(const Json& json, std::size_t most);

// Oracles "memory" and "work": from its making to its end, no more heap is in use than the bytes that are allowed, and
// the thread takes no more time. Measured by the sanitizer's own hooks.
class Measured {
 public:
  Measured(std::size_t bytes, double seconds);
  ~Measured();
  Measured(const Measured&) = delete;

 private:
  std::size_t bytes_;
  double seconds_;
  std::clock_t start_;
};

}  // namespace assay::fuzz
