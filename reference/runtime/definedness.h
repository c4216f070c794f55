#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

// Records the writes to a memory. A write removes the records of all earlier writes that it overlaps. The bytes of the
// recorded writes hold a value. The runtime refuses a read of any other byte, so no result depends on the initial bytes
// of the memory.
class Definedness {
 public:
  // The kinds of writers. When an execution begins, writes by instructions are forgotten; writes by the caller and
  // writes of state are kept.
  enum class By : std::uint8_t { instruction, caller, state };

  // The number of bytes of the write that begins at `at`, or 0 if no write begins there.
  std::size_t written(std::size_t at) const;

  // Reserves memory, so that the next `writes` writes do not throw.
  void make_room(std::size_t writes) { writes_.reserve(writes_.size() + writes); }
  // Records a write. A write that begins where a write of state begins is recorded as a write of state, too.
  void write(std::size_t at, std::size_t bytes, By by) noexcept;
  void forget(std::size_t at) noexcept;
  void begin() noexcept;  // forgets the writes by instructions

 private:
  struct Write {
    std::size_t at, bytes;
    By by;
  };
  std::vector<Write> writes_;  // sorted by `at`, without overlap
};

}  // namespace assay
