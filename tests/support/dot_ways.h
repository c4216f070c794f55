#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/fenced_kernels.h"

// The ways in which kernels compute products of bytes.
namespace assay::kernels {

struct DotWay {
  InstructionSet set;
  bool uses_vnni;
};

// Every instruction set of this machine, with and without VNNI. AMX is not among them.
inline std::vector<DotWay> dot_ways() {
  std::vector<DotWay> all;
  for (const InstructionSet set : sets())
    for (const bool uses_vnni : {false, true})
      if (!uses_vnni || has_vnni(set)) all.push_back({set, uses_vnni});
  return all;
}

// The same with AMX.
inline std::vector<DotWay> all_dot_ways() {
  std::vector<DotWay> all = dot_ways();
  if (is_supported(InstructionSet::amx)) all.push_back({InstructionSet::amx, true});
  return all;
}

inline std::string name_of_way(const testing::TestParamInfo<DotWay>& way) {
  return std::string(traits(way.param.set).name) + (way.param.uses_vnni ? "_vnni" : "");
}

}  // namespace assay::kernels
