#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Texts on a stream of bytes, each behind a header: what a pool and its children say to each other.
struct Frame {
  std::uint32_t kind = 0;
  std::string text;
};

std::string encode(std::uint32_t kind, std::string_view text);

// Takes frames from bytes as they arrive.
class FrameReader {
 public:
  void append(std::string_view bytes) { bytes_.append(bytes); }
  std::optional<Frame> next();               // none: there is no whole frame yet, or garbled()
  bool garbled() const { return garbled_; }  // the bytes are not frames

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  bool garbled_ = false;
};

}  // namespace assay
