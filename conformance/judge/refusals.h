#pragma once

#include <cstdint>

namespace assay {

// Which refusals of a valid call are no failures.
enum class Refusals : std::uint8_t {
  none,         // it must be answered
  unsupported,  // a testee that says so is believed
  all,          // nobody promised an answer
};

}  // namespace assay
