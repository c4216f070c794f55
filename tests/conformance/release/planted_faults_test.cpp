// A run with default options finds the mistakes of kernel authors. The kernels are in a library behind the C interface.

#include <gtest/gtest.h>

#include "conformance/adapters/load.h"
#include "conformance/runner/suite.h"
#include "tests/support/corpus.h"
#include "tests/support/planted_faults.h"

namespace assay {
namespace planted_faults_test {

using namespace std::chrono_literals;

testee::KernelLibrary& library() {
  static const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  static const auto planted = adapters::load_library("planted", folder / "libplanted_kernels.so");
  return *planted;
}

// How many cases show each class while the fault is planted.
std::map<std::string, int> seen_with(const planted::Fault& fault) {
  setenv("ASSAY_PLANTED", concat(fault.op, "=", fault.name).c_str(), 1);
  static const contract::Contract everything;
  runner::CaseRunner case_runner(corpus(), library(), everything, {20s, 60s});
  runner::SuiteOptions options;
  options.operators = fault.op;
  std::map<std::string, int> seen;
  runner::judge_blocks(case_runner, runner::plan_blocks(corpus(), options, false), 2, [&](const verdict::Record& r) {
    if (verdict::is_failure(r.verdict)) ++seen[std::string(verdict::name(r.failure))];
  });
  return seen;
}

class PlantedFault : public testing::TestWithParam<planted::Fault> {};

TEST_P(PlantedFault, IsFound) {
  const std::map<std::string, int> seen = seen_with(GetParam());
  std::string all;
  for (const auto& [failure, times] : seen) all += concat(failure, " ", times, ", ");
  EXPECT_TRUE(seen.contains(std::string(verdict::name(GetParam().found_as)))) << "seen: " << all;
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedFault, testing::ValuesIn(planted::faults()), [](const auto& info) {
  std::string name = info.param.name;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

}  // namespace planted_faults_test
}  // namespace assay
