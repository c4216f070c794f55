#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "format/workspace.h"

// Places buffers in one arena. Two buffers share bytes only if they are never of use at the same step.
namespace assay::planning {

// The bytes of a buffer, and the first and last step to which they are of use.
struct Lifetime {
  std::uint32_t first = 0, last = 0;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;  // the offset is a multiple of it

  bool overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

// Sets the offset of each lifetime and returns the size of the arena: the largest end of a buffer. The same lifetimes
// always get the same offsets. An offset search takes time that is quadratic in the number of buffers; only the 8192
// largest buffers share bytes. Nullopt: the workspace has no room for 8 bytes a lifetime.
std::optional<std::uint64_t> plan_arena(std::span<const Lifetime> lifetimes, std::span<std::uint64_t> offsets,
                                        format::Workspace& workspace);

}  // namespace assay::planning
