#include <gmock/gmock.h>

#include <filesystem>
#include <iostream>
#include <span>
#include <string>

// The test program of a folder. It runs all its tests, or the tests of the files that its arguments name without folder
// and extension.
namespace {

// A filter that selects the tests of a file.
std::string tests_in(const std::string& name) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      if (std::filesystem::path(test.file()).stem() == name)
        filter += std::string(":") + suite.name() + "." + test.name();
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  std::string filter;
  for (const std::string name : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    const std::string tests = tests_in(name);
    if (tests.empty()) {
      std::cerr << name << ".cpp has no test in this program\n";
      return 2;
    }
    filter += tests;
  }
  if (!filter.empty()) GTEST_FLAG_SET(filter, filter);
  return RUN_ALL_TESTS();
}
