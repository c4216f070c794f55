#pragma once

#include <cstddef>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "conformance/verdict/summary.h"

namespace assay::report {

struct TableStyle {
  static constexpr std::size_t unlimited = 0;
  std::size_t width = 100;                // columns; operator names and messages are shortened to fit, unless unlimited
  std::size_t defects = 20;               // the most defects per testee that are listed; the rest is counted
  bool outside = false;                   // also list defects outside the contract
  bool colour = false;                    // ANSI escape sequences
  std::string_view subject = "operator";  // what each line is about
  const std::set<std::string>* fresh = nullptr;  // if given, only defects with one of these cases are listed
};

// Writes the terminal report: for each testee one line per operator, totals, the most serious defects, each with the
// command that repeats its smallest call, and the headline.
void write_table(std::ostream& out, const verdict::Summary& summary, const TableStyle& style = {});

}  // namespace assay::report
