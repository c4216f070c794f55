#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "format/workspace.h"

// Plans the offsets of buffers in one arena. Two buffers share bytes only if their lifetimes do not overlap.
namespace assay::planning {

// A buffer: its size in bytes, and the first and the last step that uses it.
struct Lifetime {
  std::uint32_t first = 0, last = 0;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;  // the offset must be a multiple of this number

  bool overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

// Sets the offset of each lifetime and returns the size of the arena: the largest end of a buffer. The same lifetimes
// always get the same offsets. The search for offsets takes time that is quadratic in the number of buffers; therefore
// only the 8192 largest buffers share bytes. Returns nullopt if the workspace lacks 8 bytes for each lifetime.
std::optional<std::uint64_t> plan_arena(std::span<const Lifetime> lifetimes, std::span<std::uint64_t> offsets,
                                        format::Workspace& workspace);

}  // namespace assay::planning
