#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <string>
#include <string_view>

namespace assay::text {

// The largest number of bytes in a line of a run file or of a list of cases. The longest lines that assay writes are
// defects: they name each of their cases, with about 40 bytes for a case.
inline constexpr std::size_t most_line_bytes = std::size_t{16} << 20;

// Reads the next line with its '\n', which the last line may lack. Returns false at the end of the stream. Throws
// std::invalid_argument if the line is longer than most_line_bytes, or if the stream cannot be read.
bool read_line(std::istream& in, std::string& line);

// Calls f with each line of the file, without its '\n'. Throws Fault (malformed, with the given rule) if the file
// cannot be read or a line is longer than most_line_bytes. A Fault that f throws gets the file and the line as a
// prefix.
void each_line(const std::string& file, std::string_view rule, const std::function<void(const std::string&)>& f);

}  // namespace assay::text
