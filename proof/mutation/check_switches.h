#pragma once

#include <set>

#include "proof/mutation/mutant.h"

// The switches in mutated sources of format/ (checks.py).
namespace assay::format {

inline bool is_left_out(int check) { return mutation::on(check); }

inline std::set<int> broken_checks;  // the checks that failed since this was cleared, by the numbers of their mutants

inline bool held(int check, bool condition) {
  if (!condition) broken_checks.insert(check);
  return condition;
}

}  // namespace assay::format
