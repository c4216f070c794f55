#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reference/fault.h"

namespace assay {

// Bodies on a stream of bytes, each behind a header, as spec/runtime_protocol.md has them: what a pool and its children
// say to each other, and we to testees elsewhere.
struct Frame {
  std::uint8_t kind = 0;
  std::uint16_t number = 0;
  std::string text;
};

inline constexpr std::uint32_t most_frame_bytes = std::uint32_t{1} << 30;  // of one body; a longer one is none of ours

// Throws Fault: exhausted, protocol.length.
std::string encode(std::uint8_t kind, std::string_view text, std::uint16_t number = 0);

// CRC-32, as of zlib, of what came before and these.
std::uint32_t crc(std::string_view bytes, std::uint32_t before = 0);

// Takes frames from bytes as they arrive.
class FrameReader {
 public:
  void append(std::string_view bytes) { bytes_.append(bytes); }
  std::optional<Frame> next();  // none: there is no whole frame yet, or the bytes are none
  const std::optional<Fault>& broken() const { return broken_; }  // protocol.mark, .version, .length, .checksum
  void skip_to_mark();  // what is broken is dropped, up to the next byte that may begin a frame

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  std::optional<Fault> broken_;
};

}  // namespace assay
