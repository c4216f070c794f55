#include "conformance/text/read_line.h"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"

namespace assay::text {
namespace {

bool next_line(std::istream& in, std::string& line, std::string_view rule) try {
  return read_line(in, line);
} catch (const std::invalid_argument& error) {
  malformed(rule, error.what());
}

}  // namespace

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

void each_line(const std::string& file, std::string_view rule, const std::function<void(const std::string&)>& f) {
  std::ifstream in(file);
  well_formed(in.is_open(), rule, printable(file), " cannot be read");
  std::string line;
  const auto next = [&] {
    if (!next_line(in, line, rule)) return false;
    if (line.ends_with('\n')) line.pop_back();
    f(line);
    return true;
  };
  for (std::size_t number = 1; within(next, printable(file), ", line ", number);) ++number;
}

}  // namespace assay::text
