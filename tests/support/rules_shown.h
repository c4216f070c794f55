#pragma once

#include <iostream>
#include <string_view>

#include "reference/fault.h"

// The rules of files that tests other than format_rules_test show, each by a file that keeps it and a file that breaks
// it.
namespace assay {

inline constexpr std::string_view flow_rules[] = {"H16", "I9",  "I10", "I12", "I15", "I18", "I19", "I20", "I21",
                                                  "M12", "T13", "T15", "T16", "T25", "T26", "T27", "V9"};
inline constexpr std::string_view runtime_rules[] = {"G3", "T24", "I4", "I10", "I11", "I14", "I17", "D2", "D6", "X46",
                                                     "R1", "R2",  "R3", "R4",  "R5",  "R6",  "R7",  "B8", "B9"};

inline constexpr std::string_view client_rules[] = {"R8"};
inline constexpr std::string_view packed_rules[] = {"P1", "P2", "P3", "P4", "P5", "P6"};

// Prints the line of a case with the fault that the breaking file gets.
inline void show_case(std::string_view rule, std::string_view what, const Fault& told) {
  std::cout << rule << " | " << what << " | " << told.place << (told.place.empty() ? "" : " ") << told.message << '\n';
}

}  // namespace assay
