#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "optimized/runtime/method.h"

// Packed constants in a file, so that later processes need not pack them. Rules P1 to P6 of spec/format/rules.yaml
// apply.
namespace assay::optimized {

// The size in bytes of the file of a method's packed constants.
std::uint64_t packed_file_size(const Method& method);

// Writes the file. Returns false if it does not fit in `to` (V4). Requires the program of the method.
bool save_packed(const Program& program, const Method& method, std::span<std::byte> to, Fault& fault);

// Returns constants for Options::packed, which stay in the file's memory. Returns nothing if P1, P2, P3, P4 or P5 is
// broken; the fault names the rule. P6 is checked when the method is made.
std::optional<KeptConstants> open_packed(const Program& program, std::span<const std::byte> file, Fault& fault);

}  // namespace assay::optimized
