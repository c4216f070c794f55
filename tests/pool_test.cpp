#include "conformance/testees/pool.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <thread>

namespace assay {
namespace {

using namespace std::chrono_literals;
using End = TaskResult::End;

Pool::Next each(std::vector<std::string> tasks) {
  return [tasks = std::move(tasks), at = std::size_t{0}]() mutable {
    return at < tasks.size() ? std::optional(tasks[at++]) : std::nullopt;
  };
}

std::map<std::string, TaskResult> run(Pool& pool, std::vector<std::string> tasks) {
  std::map<std::string, TaskResult> results;
  pool.run(each(std::move(tasks)), [&](std::string_view task, const TaskResult& r) {
    EXPECT_TRUE(results.emplace(task, r).second) << task << " was reported twice";
  });
  return results;
}

// The file descriptor of the child's socket: the only socket it has.
int find_socket() {
  for (int fd = 3; fd < 256; ++fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0) return fd;
  }
  return -1;
}

std::string misbehave(std::string_view task) {
  if (task == "segfault") std::raise(SIGSEGV);
  if (task == "abort") {
    std::fprintf(stderr, "the last words\n");
    std::abort();
  }
  if (task == "exit") std::_Exit(3);
  if (task == "hang") std::this_thread::sleep_for(1h);
  if (task == "throw") throw std::runtime_error("the host is wrong");
  if (task == "large") return std::string(5'000'000, 'x');
  if (task == "chatter") std::printf("%s", std::string(300'000, 'y').c_str()), std::fflush(stdout);
  if (task == "garbage") (void)!write(find_socket(), "0123456789abcdefghij", 20);
  return "did " + std::string(task);
}

TEST(Pool, ReportsEveryTaskOnce) {
  Pool pool(2, 10s, misbehave);
  std::vector<std::string> tasks;
  for (int i = 0; i < 10'000; ++i) tasks.push_back(std::to_string(i));
  const auto results = run(pool, tasks);
  ASSERT_EQ(results.size(), tasks.size());
  for (const auto& [task, r] : results) ASSERT_EQ(r.text, "did " + task);
}

TEST(Pool, OneChildKeepsTheOrder) {
  Pool pool(1, 10s, misbehave);
  int at = 0;
  pool.run(each({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}),
           [&](std::string_view task, const TaskResult&) { EXPECT_EQ(task, std::to_string(at++)); });
  EXPECT_EQ(at, 10);
}

TEST(Pool, ASegmentationFault) {
  Pool pool(1, 10s, misbehave);
  const auto results = run(pool, {"a", "segfault", "b"});
  EXPECT_EQ(results.at("segfault").end, End::crashed);
  EXPECT_EQ(results.at("segfault").text, "crashed with signal 11 (Segmentation fault)");
  EXPECT_EQ(results.at("a").end, End::done);
  EXPECT_EQ(results.at("b").text, "did b");
}

TEST(Pool, AnAbortWithItsLastWords) {
  Pool pool(1, 10s, misbehave);
  const TaskResult r = run(pool, {"abort"}).at("abort");
  EXPECT_EQ(r.end, End::crashed);
  EXPECT_EQ(r.text, "crashed with signal 6 (Aborted)\nthe last words\n");
}

TEST(Pool, AnExit) {
  Pool pool(2, 10s, misbehave);
  const TaskResult r = run(pool, {"exit", "a", "b"}).at("exit");
  EXPECT_EQ(r.end, End::exited);
  EXPECT_EQ(r.text, "exited with status 3");
}

TEST(Pool, AHangCostsItsDeadlineOnly) {
  Pool pool(2, 300ms, misbehave);
  const auto start = std::chrono::steady_clock::now();
  const auto results = run(pool, {"a", "hang", "b", "c", "d"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_EQ(results.at("hang").end, End::timed_out);
  EXPECT_EQ(results.at("hang").text, "took longer than 300 ms");
  EXPECT_EQ(results.size(), 5u);
  EXPECT_EQ(results.at("d").end, End::done);
}

TEST(Pool, Garbage) {
  Pool pool(1, 10s, misbehave);
  const auto results = run(pool, {"garbage", "a"});
  EXPECT_EQ(results.at("garbage").end, End::garbled);
  EXPECT_EQ(results.at("a").end, End::done);
}

TEST(Pool, AnErrorOfTheHostIsNoCrash) {
  Pool pool(1, 10s, misbehave);
  const TaskResult r = run(pool, {"throw"}).at("throw");
  EXPECT_EQ(r.end, End::threw);
  EXPECT_EQ(r.text, "the host is wrong");
}

TEST(Pool, LargeTasksAndAnswers) {
  Pool pool(2, 60s, [](std::string_view task) { return std::string(task); });
  std::vector<std::string> tasks;
  for (char c = 'a'; c < 'g'; ++c) tasks.emplace_back(3'000'000, c);
  for (const auto& [task, r] : run(pool, tasks)) EXPECT_TRUE(r.text == task);
  Pool other(1, 60s, misbehave);
  EXPECT_EQ(run(other, {"large"}).at("large").text.size(), 5'000'000u);
}

TEST(Pool, OutputOfChildrenDoesNotAppearAndDoesNotBlockThem) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    Pool pool(1, 10s, misbehave);
    const auto results = run(pool, {"chatter", "abort"});
    EXPECT_EQ(results.at("chatter").end, End::done);
    EXPECT_LE(results.at("abort").text.size(), 2048u + 64u);
    EXPECT_TRUE(results.at("abort").text.ends_with("the last words\n"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Pool, ManyCrashesAmongManyTasks) {
  Pool pool(2, 10s,
            [](std::string_view task) { return task.ends_with("13") ? misbehave("segfault") : std::string(task); });
  std::vector<std::string> tasks;
  for (int i = 0; i < 2'000; ++i) tasks.push_back(std::to_string(i));
  const auto results = run(pool, tasks);
  EXPECT_EQ(results.size(), 2'000u);
  for (const auto& [task, r] : results) ASSERT_EQ(r.end, task.ends_with("13") ? End::crashed : End::done) << task;
}

TEST(Pool, ResultsMayBringNewTasks) {
  Pool pool(2, 10s, misbehave);
  std::vector<std::string> waiting{"a"};
  int results = 0;
  pool.run(
      [&]() -> std::optional<std::string> {
        if (waiting.empty()) return std::nullopt;
        std::string task = waiting.back();
        waiting.pop_back();
        return task;
      },
      [&](std::string_view task, const TaskResult&) {
        if (++results < 20) waiting.push_back(std::string(task) + "a");
      });
  EXPECT_EQ(results, 20);
}

std::set<int> children_of(pid_t parent) {
  std::set<int> found;
  std::ifstream in("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  for (int child = 0; in >> child;) found.insert(child);
  return found;
}

bool gone_soon(int pid) {
  for (int i = 0; i < 200; ++i) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(in >> number >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(Pool, ChildrenDieWithTheirParent) {
  for (int signal : {SIGINT, SIGKILL}) {
    const pid_t parent = fork();
    if (parent == 0) {
      std::signal(SIGINT, SIG_DFL);
      Pool pool(2, 1h, misbehave);
      pool.run(each({"hang", "hang"}), [](std::string_view, const TaskResult&) {});
      std::_Exit(0);
    }
    std::set<int> children;
    for (int i = 0; i < 500 && children.size() < 2; ++i) {
      std::this_thread::sleep_for(10ms);
      children = children_of(parent);
    }
    ASSERT_EQ(children.size(), 2u);
    std::this_thread::sleep_for(50ms);  // past the children's own set-up
    kill(parent, signal);
    int status = 0;
    waitpid(parent, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    for (int child : children) EXPECT_TRUE(gone_soon(child)) << child;
  }
}

TEST(Pool, ChildrenDieWithThePool) {
  std::set<int> children;
  {
    Pool pool(2, 10s, misbehave);
    children = children_of(getpid());
    EXPECT_EQ(children.size(), 2u);
  }
  EXPECT_TRUE(children_of(getpid()).empty());
}

}  // namespace
}  // namespace assay
