#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace assay::text {

// The largest number of bytes in a line of a run file or of a list of cases. The longest lines that assay writes are
// defects: they name each of their cases, with about 40 bytes for a case.
inline constexpr std::size_t most_line_bytes = std::size_t{16} << 20;

// Reads the next line with its '\n', which the last line may lack. Returns false at the end of the stream. Throws
// std::invalid_argument if the line is longer than most_line_bytes, or if the stream cannot be read.
bool read_line(std::istream& in, std::string& line);

}  // namespace assay::text
