#include "conformance/text/read_line.h"

#include <fmt/format.h>

#include <stdexcept>

namespace assay::text {

// Reads from the buffer, because std::getline hides that memory ran out: it ends the stream.
bool read_line(std::istream& in, std::string& line) try {
  line.clear();
  constexpr int end = std::char_traits<char>::eof();
  for (int c = in.rdbuf()->sbumpc(); c != end; c = in.rdbuf()->sbumpc()) {
    if (line.size() == most_line_bytes)
      throw std::invalid_argument(fmt::format("it is longer than {} bytes", most_line_bytes));
    line += static_cast<char>(c);
    if (c == '\n') return true;
  }
  return !line.empty();
} catch (const std::ios_base::failure& failure) {
  throw std::invalid_argument("it cannot be read");
}

}  // namespace assay::text
