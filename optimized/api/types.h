#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "optimized/api/assay.h"
#include "optimized/runtime/method.h"

// Conversions between the types of the C interface and the types of the runtime.

struct assay_program {
  std::optional<assay::optimized::Program> program;
  assay::format::DataView views[ASSAY_MOST_DATA_FILES];
};

namespace assay::optimized {

inline Program::Bytes bytes_of(const assay_bytes& b) { return {static_cast<const std::byte*>(b.data), b.size}; }
inline std::span<std::byte> bytes_of(const assay_memory& m) { return {static_cast<std::byte*>(m.data), m.size}; }

// Converts a number of bytes to size_t. A number that is too large becomes the largest size_t.
inline std::size_t interface_size(std::uint64_t bytes) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::size_t>::max()));
}

inline Method& method_of(assay_method* m) { return *reinterpret_cast<Method*>(m); }
inline const Method& method_of(const assay_method* m) { return *reinterpret_cast<const Method*>(m); }

// Copies a fault to the client's object, which may be null. Returns ASSAY_OK and copies nothing if there is none.
inline assay_outcome outcome_of(const Fault& from, assay_fault* to) {
  if (from && to) {
    static_assert(sizeof to->rule == sizeof from.rule && sizeof to->place == sizeof from.place);
    std::memcpy(to->rule, from.rule, sizeof from.rule);
    std::memcpy(to->place, from.place, sizeof from.place);
    std::memcpy(to->message, from.message, sizeof from.message);
  }
  return static_cast<assay_outcome>(from.outcome);
}

}  // namespace assay::optimized
