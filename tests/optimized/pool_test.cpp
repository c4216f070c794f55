#include "conformance/adapters/optimized/pool.h"

#include <gmock/gmock-matchers.h>

#include <chrono>
#include <vector>

namespace assay {
namespace pool_test {

using namespace std::chrono_literals;

struct Calls {
  std::vector<int> of_task;
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> helped = false;

  static void task(void* context, std::size_t i) {
    Calls& calls = *static_cast<Calls*>(context);
    ++calls.of_task[i];
    if (std::this_thread::get_id() != calls.caller) calls.helped = true;
  }
};

// Tasks write without atomics, so that the thread sanitizer sees whether their writes are visible afterwards.
TEST(Pool, RunsEachTaskOnceWithAnyNumberOfThreads) {
  for (const std::size_t threads : {1u, 2u, 3u, 8u}) {
    Pool pool(threads);
    for (std::size_t tasks = 0; tasks < 300; ++tasks) {
      Calls calls{std::vector<int>(tasks)};
      Pool::run(&pool, Calls::task, &calls, tasks);
      EXPECT_THAT(calls.of_task, testing::Each(1)) << threads << " threads, " << tasks << " tasks";
    }
  }
}

// Each call has another context, which is gone at the next call. A late thread must not touch it.
TEST(Pool, AThreadThatWakesLateRunsNoTask) {
  Pool pool(4);
  for (int call = 0; call < 20'000; ++call) {
    Calls calls{std::vector<int>(2)};
    Pool::run(&pool, Calls::task, &calls, 2);
    ASSERT_THAT(calls.of_task, testing::Each(1));
  }
}

TEST(Pool, HelpersRunTasksAgainAfterSleeping) {
  Pool pool(2);
  for (int nap = 0; nap < 3; ++nap, std::this_thread::sleep_for(50ms)) {
    Calls calls{std::vector<int>(1)};
    for (const auto end = std::chrono::steady_clock::now() + 20s; !calls.helped;) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      Pool::run(&pool, Calls::task, &calls, 1);
    }
  }
}

TEST(Pool, EndsWhileHelpersSpinAndWhileTheySleep) {
  for (const auto nap : {0ms, 50ms}) {
    Pool pool(3);
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace pool_test
}  // namespace assay
