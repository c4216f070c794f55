#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

// Which bytes of a memory hold a value: those of writes that no later write overlaps. A write that begins where another
// begins writes the same place again. With it, no result depends on what memory began with.
class Definedness {
 public:
  // Who wrote: what instructions write goes when an execution begins, what the caller gave and state do not.
  enum class By : std::uint8_t { instruction, caller, state };

  std::size_t written(std::size_t at) const;  // how many bytes by one write from there on; 0: none

  void make_room(std::size_t writes) { writes_.reserve(writes_.size() + writes); }  // so that these do not throw
  void write(std::size_t at, std::size_t bytes, By by) noexcept;                    // state stays state
  void forget(std::size_t at) noexcept;
  void begin() noexcept;  // an execution begins

 private:
  struct Write {
    std::size_t at, bytes;
    By by;
  };
  std::vector<Write> writes_;  // ascending, none overlaps another
};

}  // namespace assay
