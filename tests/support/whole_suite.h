#pragma once

#include <gtest/gtest.h>

namespace assay {

// For TearDownTestSuite: whether all tests of the suite ran, so that no filter left one out.
inline bool whole_suite_ran() {
  const testing::TestSuite& suite = *testing::UnitTest::GetInstance()->current_test_suite();
  return suite.test_to_run_count() == suite.total_test_count();
}

}  // namespace assay
