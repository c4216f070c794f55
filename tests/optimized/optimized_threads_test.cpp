#include <gmock/gmock-more-matchers.h>

#include <filesystem>
#include <thread>

#include "tests/support/backwards.h"
#include "tests/support/golden.h"
#include "tests/support/program_folders.h"
#include "tests/support/recorded.h"

// Runs the optimized runtime on several threads. Each task has a thread of its own, as a pool may run all tasks on one
// thread.
namespace assay {
namespace optimized_threads_test {

namespace fs = std::filesystem;
using Results = Recorded::Results;

adapters::OptimizedClient::Options on_threads(std::size_t n) {
  return {.threads = n, .run = kernels::backwards(n).run, .least_share = 1};
}

class OptimizedThreads : public testing::TestWithParam<fs::path> {};

TEST_P(OptimizedThreads, ThreeThreadsGiveTheResultsOfOne) {
  const Recorded recorded(GetParam());
  adapters::OptimizedClient one = recorded.client(), three = recorded.client(on_threads(3));
  expect_same(recorded.run(three), recorded.run(one));
}

INSTANTIATE_TEST_SUITE_P(Golden, OptimizedThreads, testing::ValuesIn(program_folders()), name_of_folder);

// The methods share no state, and each has threads of its own.
TEST(OptimizedThreads, MethodsOfOneProgramRunAtTheSameTime) {
  for (const char* name : {"external_methods", "methods", "plan_per_method"}) {
    const Recorded recorded(golden_folder() / "programs" / name);
    adapters::OptimizedClient alone = recorded.client(), together = recorded.client(on_threads(2));
    for (const std::string& method : together.method_names()) together.method(method);
    std::vector<std::jthread> threads;
    for (const std::string& method : together.method_names()) {
      threads.emplace_back([&recorded, &together, method, want = recorded.run(alone, method)] {
        for (int again = 0; again < 20; ++again) expect_same(recorded.run(together, method), want);
      });
    }
  }
}

// Calls the method that is running.
struct Meddler {
  const adapters::OptimizedClient::Method& method;
  std::vector<std::string> rules;

  static bool meddle(void* context, const assay_method*, std::size_t) {
    Meddler& m = *static_cast<Meddler*>(context);
    assay_fault fault{};
    assay_value input{};
    assay_reset(m.method.method);
    assay_input(m.method.method, 0, &input);
    for (const assay_outcome refused :
         {assay_execute(m.method.method, &fault), assay_step(m.method.method, &fault),
          assay_set_input(m.method.method, 0, &input, &fault), assay_set_output(m.method.method, 0, {}, &fault)})
      m.rules.emplace_back(refused == ASSAY_INVALID ? fault.rule : "");
    return true;
  }
};

TEST(OptimizedReentrancy, AListenerCannotChangeTheMethod) {
  const Recorded recorded(golden_folder() / "programs" / "mlp");
  adapters::OptimizedClient alone = recorded.client({.as_written = true}),
                            client = recorded.client({.as_written = true});
  const adapters::OptimizedClient::Method& method = client.method(client.default_method());
  Meddler meddler{method, {}};
  assay_listen(method.method, Meddler::meddle, &meddler);
  expect_same(recorded.run(client), recorded.run(alone));
  EXPECT_THAT(meddler.rules, testing::AllOf(testing::Not(testing::IsEmpty()), testing::Each("R6")));
}

}  // namespace optimized_threads_test
}  // namespace assay
