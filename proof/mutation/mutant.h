#pragma once

#include <span>
#include <string_view>

namespace assay::mutation {

// A program with one fault.
struct Mutant {
  std::string_view of;      // the operator or file that has the fault
  std::string_view kind;    // the kind, such as "rule" or "constant"
  std::string_view place;   // the text without the fault, such as "R3: rank_between(weight, 3, 5)"
  std::string_view change;  // the text with the fault
  int first = 0;            // the number of the first mutant of the same place
};

// The mutants whose switches generate.py has written. The number of a mutant is its position.
std::span<const Mutant> generated_mutants();

inline int active = -1;  // the number of the mutant that is switched on; -1: none
inline bool on(int mutant) { return active == mutant; }

}  // namespace assay::mutation
