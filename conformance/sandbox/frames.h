#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reference/fault.h"

namespace assay {

// A message on a byte stream: a header and a body, as spec/runtime_protocol.md defines them. The fork server's workers
// and remote testees use the same frames.
struct Frame {
  std::uint8_t kind = 0;
  std::uint16_t number = 0;
  std::string text;
};

inline constexpr std::uint32_t most_frame_bytes = std::uint32_t{1} << 30;  // upper bound of a body

// Throws Fault: exhausted, protocol.length.
std::string encode(std::uint8_t kind, std::string_view text, std::uint16_t number = 0);

// CRC-32 as in zlib, continued from `before`.
std::uint32_t crc(std::string_view bytes, std::uint32_t before = 0);

// Splits arriving bytes into frames.
class FrameReader {
 public:
  void append(std::string_view bytes) { bytes_.append(bytes); }
  std::optional<Frame> next();  // empty if no frame is complete yet, or the bytes are broken
  const std::optional<Fault>& broken() const { return broken_; }  // protocol.mark, .version, .length, .checksum
  void skip_to_mark();  // drops broken bytes, up to the next byte that may begin a frame

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  std::optional<Fault> broken_;
};

}  // namespace assay
