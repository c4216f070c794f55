#include "conformance/testees/frames.h"

#include <cstring>

namespace assay {
namespace {

struct Header {
  std::uint32_t mark;
  std::uint32_t kind;
  std::uint64_t bytes;
};
constexpr std::uint32_t mark = 0x79617361;              // "asay"
constexpr std::uint64_t most = std::uint64_t{1} << 30;  // of one text; a longer one is no text of ours

}  // namespace

std::string encode(std::uint32_t kind, std::string_view text) {
  const Header header{mark, kind, text.size()};
  std::string frame(sizeof header, '\0');
  std::memcpy(frame.data(), &header, sizeof header);
  return frame.append(text);
}

std::optional<Frame> FrameReader::next() {
  Header header;
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (rest.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, rest.data(), sizeof header);
  garbled_ = header.mark != mark || header.bytes > most;
  if (garbled_ || rest.size() - sizeof header < header.bytes) return std::nullopt;
  Frame frame{header.kind, std::string(rest.substr(sizeof header, header.bytes))};
  taken_ += sizeof header + header.bytes;
  if (taken_ == bytes_.size()) bytes_.clear(), taken_ = 0;
  return frame;
}

}  // namespace assay
