#include "conformance/sandbox/frames.h"

#include <array>
#include <cstring>

#include "protocol.gen.h"

namespace assay::sandbox {
namespace {

struct Header {
  std::array<char, 4> mark;
  std::uint8_t version;
  std::uint8_t kind;
  std::uint16_t number;
  std::uint32_t bytes;
  std::uint32_t checksum;
};

// The contribution of a byte to the remainder when 0 to 3 bytes follow it.
constexpr auto crc_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t rest = i;
    for (auto& table : tables) {
      for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1) * 0xEDB88320;
      table[i] = rest;
    }
  }
  return tables;
}();

constexpr std::uint32_t byte_of(std::uint32_t word, int place) { return word >> 8 * place & 0xFF; }

// Covers the header up to the checksum, and the body: CRC-32 as in Ethernet and zlib.
std::uint32_t checksum_of(const Header& header, std::string_view body) {
  const std::string_view begin(reinterpret_cast<const char*>(&header), offsetof(Header, checksum));
  return crc(body, crc(begin));
}

std::optional<Fault> fault_of(const Header& header) {
  const auto fault = [](Outcome outcome, const char* rule, const auto&... sentence) {
    return Fault(outcome, rule, concat(sentence...));
  };
  if (header.mark != wire::mark) return fault(Outcome::malformed, "protocol.mark", "something came that is no frame");
  if (header.version != wire::version)
    return fault(Outcome::unsupported, "protocol.version", "a frame is of version ", +header.version,
                 " of the protocol, but here is version ", +wire::version);
  if (header.bytes > most_frame_bytes)
    return fault(Outcome::exhausted, "protocol.length", "a frame announces ", header.bytes, " bytes, more than ",
                 most_frame_bytes);
  return std::nullopt;
}

}  // namespace

std::uint32_t crc(std::string_view bytes, std::uint32_t before) {
  std::uint32_t all = ~before;
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i])); };
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    const std::uint32_t word = all ^ (at(i) | at(i + 1) << 8 | at(i + 2) << 16 | at(i + 3) << 24);
    all = crc_tables[3][byte_of(word, 0)] ^ crc_tables[2][byte_of(word, 1)] ^ crc_tables[1][byte_of(word, 2)] ^
          crc_tables[0][byte_of(word, 3)];
  }
  for (; i < bytes.size(); ++i) all = all >> 8 ^ crc_tables[0][byte_of(all ^ at(i), 0)];
  return ~all;
}

std::string encode(std::uint8_t kind, std::string_view text, std::uint16_t number) {
  if (text.size() > most_frame_bytes)
    throw Fault(Outcome::exhausted, "protocol.length",
                concat("a frame would take ", text.size(), " bytes, more than ", most_frame_bytes));
  Header header{wire::mark, wire::version, kind, number, static_cast<std::uint32_t>(text.size()), 0};
  header.checksum = checksum_of(header, text);
  std::string frame(sizeof header, '\0');
  std::memcpy(frame.data(), &header, sizeof header);
  return frame.append(text);
}

std::optional<Frame> FrameReader::next() {
  Header header;
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (broken_ || rest.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, rest.data(), sizeof header);
  broken_ = fault_of(header);
  if (broken_ || rest.size() - sizeof header < header.bytes) return std::nullopt;
  const std::string_view body = rest.substr(sizeof header, header.bytes);
  if (header.checksum != 0 && header.checksum != checksum_of(header, body)) {
    broken_.emplace(Outcome::malformed, "protocol.checksum", "the checksum of a frame is not that of its bytes");
    return std::nullopt;
  }
  Frame frame{header.kind, header.number, std::string(body)};
  taken_ += sizeof header + header.bytes;
  if (taken_ == bytes_.size()) bytes_.clear(), taken_ = 0;
  return frame;
}

void FrameReader::skip_to_mark() {
  bytes_.erase(0, bytes_.find(wire::mark.front(), taken_ + 1));
  taken_ = 0, broken_.reset();
}

}  // namespace assay::sandbox
