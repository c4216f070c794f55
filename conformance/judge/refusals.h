#pragma once

#include <cstdint>

namespace assay::judge {

// Which refusals of a valid call are allowed.
enum class Refusals : std::uint8_t {
  none,         // the call must be answered
  unsupported,  // the testee may answer `unsupported`
  all,          // the contract does not promise the call
};

}  // namespace assay::judge
