#pragma once

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace assay {

// The part of a long list that a test tries. `tools/test` sets $ASSAY_PART, for example to 3/8, and chooses another
// part for each commit. Without $ASSAY_PART, a test tries the whole list.
class Part {
 public:
  Part() {
    const char* const given = std::getenv("ASSAY_PART");
    if (!given) return;
    const std::string text = given;
    number_ = std::stoul(text) - 1, parts_ = std::stoul(text.substr(text.find('/') + 1));
    if (number_ >= parts_) throw std::invalid_argument("ASSAY_PART must be K/N with 1 <= K <= N");
  }

  // Whether the entry at a position of the list is in the part.
  bool has(std::size_t position) const { return position % parts_ == number_; }
  std::size_t parts() const { return parts_; }

 private:
  std::size_t number_ = 0, parts_ = 1;
};

}  // namespace assay
