#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/dtype.h"

namespace assay {

// Bytes of a red zone that no longer hold what the host wrote there.
struct Damage {
  std::string buffer;
  bool behind = false;       // or before the buffer
  std::size_t distance = 0;  // from the buffer's edge to the nearest damaged byte: 0 is the byte next to it
  std::size_t bytes = 0;     // how many are damaged
};
std::string describe(const Damage& damage);  // "4 bytes behind out are overwritten, the nearest 0 bytes from its end"

// The host memory of one call: every buffer is an allocation of its own, with a red zone before and behind it.
class GuardedMemory {
 public:
  // What a kernel may rely on: ExecuTorch's memory plans align tensors to 16 bytes. Buffers get exactly that and no
  // more.
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t red_zone = 128;

  // A buffer of exactly `bytes`, uninitialized, never null. It lives as long as this object.
  std::byte* add(std::string name, std::size_t bytes);

  // The first red zone that was written to, in the order in which buffers were added.
  std::optional<Damage> damage() const;

 private:
  struct Buffer {
    std::string name;
    std::unique_ptr<std::byte[]> memory;
    std::byte* data;
    std::size_t bytes;
  };
  std::vector<Buffer> buffers_;
};

// What outs hold before the first and the second run of a call. An element that holds the one after the first run and
// the other after the second was never written; a kernel that reads its out first gives two different results. The two
// have opposite signs in every signed dtype, are of the size of 1 in floating ones, so that a sum shows them, and are
// true and false.
enum class Poison : std::uint8_t { first, second };
std::byte poison_byte(Poison poison, DType dtype);
void fill(std::span<std::byte> memory, Poison poison, DType dtype);

}  // namespace assay
