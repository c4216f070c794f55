#pragma once

#include <cstddef>
#include <ctime>
#include <string_view>

#include "conformance/text/json.h"
#include "reference/fault.h"

// Oracles: conditions that hold for every input. A violation ends the process with a message that begins with the
// oracle's name. A report of a sanitizer ends the process, too.
namespace assay::fuzz {

[[noreturn]] void found(std::string_view oracle, const std::string& sentence);

template <class... Parts>
void must(bool holds, std::string_view oracle, const Parts&... sentence) {
  if (!holds) found(oracle, concat(sentence...));
}

// Oracle "text": UTF-8 without control characters except newlines. Oracle "output": at most `most` bytes.
void check_text(std::string_view text, Int most);
// Oracle "json": the text parses as JSON.
void check_json(std::string_view text);

// Oracles "memory" and "work": during its lifetime the heap in use stays within `bytes`, and the thread's time within
// `seconds`. Measured by the sanitizer's hooks.
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
