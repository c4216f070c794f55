#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "optimized/runtime/method.h"

// Packed constants in a file, so that the next process need not pack them. Its rules are P1 to P6 of
// spec/format/rules.yaml.
namespace assay::optimized {

// Bytes of the file of a method's packed constants.
std::uint64_t packed_file_size(const Method& method);

// Writes the file; false where it does not fit in `to`, by V4. The program is the method's.
bool save_packed(const Program& program, const Method& method, std::span<std::byte> to, Fault& fault);

// What Options::packed takes, where the file lies. None: the fault says which rule is broken; P6 is asked when the
// method is made.
std::optional<KeptConstants> open_packed(const Program& program, std::span<const std::byte> file, Fault& fault);

}  // namespace assay::optimized
