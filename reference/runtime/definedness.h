#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

// The bytes of a memory that hold a value: the bytes of each write that no later write overlaps. A write that begins
// where an earlier one begins replaces it. Therefore no result depends on the initial bytes of the memory.
class Definedness {
 public:
  // The writer. When an execution begins, writes of instructions are forgotten; writes of the caller and state stay.
  enum class By : std::uint8_t { instruction, caller, state };

  std::size_t written(std::size_t at) const;  // the bytes of the write that begins there; 0: none

  void make_room(std::size_t writes) {
    writes_.reserve(writes_.size() + writes);
  }                                                               // so that so many writes do not throw
  void write(std::size_t at, std::size_t bytes, By by) noexcept;  // state stays state
  void forget(std::size_t at) noexcept;
  void begin() noexcept;  // an execution begins

 private:
  struct Write {
    std::size_t at, bytes;
    By by;
  };
  std::vector<Write> writes_;  // ascending, without overlap
};

}  // namespace assay
