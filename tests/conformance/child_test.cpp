#include "conformance/sandbox/child.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "conformance/sandbox/recover.h"

namespace assay {
namespace child_test {

using namespace std::chrono_literals;
using End = sandbox::TaskResult::End;

// The file descriptor of the child's only socket.
int find_socket() {
  for (int fd = 3; fd < 256; ++fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0) return fd;
  }
  return -1;
}

void spin() {
  for (volatile bool forever = true; forever;) {
  }
}

sandbox::Work misbehave(std::string_view task) {
  static int done = 0;
  if (task == "segfault") std::raise(SIGSEGV);
  if (task == "abort") {
    std::fprintf(stderr, "the last words\n");
    std::abort();
  }
  if (task == "exit") std::_Exit(3);
  if (task == "sleep") std::this_thread::sleep_for(1h);
  if (task == "spin") spin();
  if (task.starts_with("prepare")) {
    const sandbox::StoppedClock clock;
    std::this_thread::sleep_for(600ms);
  }
  if (task == "prepare and spin") spin();
  if (task == "doze") std::this_thread::sleep_for(600ms);
  if (task == "throw") throw std::runtime_error("the host is wrong");
  if (task == "fault") throw Fault(Outcome::invalid, "case.call", "there is no such call", "case 3");
  if (task == "lost") throw sandbox::Lost{End::crashed, SIGFPE, "the device is gone"};
  if (task.starts_with("outlive ")) {
    const bool returned = sandbox::recovers_from_abort([&] {
      std::fprintf(stderr, "%s\n", std::string(task.substr(8)).c_str());
      std::abort();
    });
    if (!returned) throw sandbox::Lost{End::recovered, SIGABRT, "aborted"};
  }
  if (task == "gets no processor") {
    if (fork() == 0) {
      std::this_thread::sleep_for(600ms);
      kill(getppid(), SIGCONT);
      _exit(0);
    }
    std::raise(SIGSTOP);
  }
  if (task == "abort elsewhere") sandbox::recovers_from_abort([] { std::jthread(std::abort).join(); });
  if (task == "abort later") {
    sandbox::recovers_from_abort([] {});
    try {
      sandbox::recovers_from_abort([] { throw 1; });
    } catch (int) {
    }
    std::abort();
  }
  if (task == "large") return {std::string(5'000'000, 'x')};
  if (task == "chatter") std::printf("%s", std::string(300'000, 'y').c_str()), std::fflush(stdout);
  if (task == "garbage") (void)!::write(find_socket(), "0123456789abcdefghij", 20);
  if (task == "count") return {std::to_string(++done)};
  if (task == "address") return {std::to_string(reinterpret_cast<std::uintptr_t>(std::make_unique<int>().get()))};
  return {"did " + std::string(task), task == "last"};
}

const sandbox::TimeLimit patient{10s, 100s};

sandbox::TaskResult result(sandbox::ForkServer& fork_server, std::string_view task,
                           const sandbox::TimeLimit& time_limit = patient) {
  sandbox::Child child(fork_server, time_limit);
  child.give(task);
  return child.next();
}

TEST(Child, AnswersTasksInOrder) {
  sandbox::ForkServer fork_server(misbehave);
  sandbox::Child child(fork_server, patient);
  for (int i = 0; i < 10'000; ++i) child.give(std::to_string(i));
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(child.next().text, "did " + std::to_string(i));
}

TEST(Child, ReportsASegmentationFault) {
  sandbox::ForkServer fork_server(misbehave);
  const sandbox::TaskResult r = result(fork_server, "segfault");
  EXPECT_EQ(r.end, End::crashed);
  EXPECT_EQ(r.signal, SIGSEGV);
  EXPECT_EQ(r.text, "crashed with signal 11 (Segmentation fault)");
}

TEST(Child, ReportsAnAbortWithItsLastOutput) {
  sandbox::ForkServer fork_server(misbehave);
  const sandbox::TaskResult r = result(fork_server, "abort");
  EXPECT_EQ(r.end, End::crashed);
  EXPECT_EQ(r.text, "crashed with signal 6 (Aborted)");
  EXPECT_EQ(r.output, "the last words\n");
}

TEST(Child, ReportsAnExit) {
  sandbox::ForkServer fork_server(misbehave);
  const sandbox::TaskResult r = result(fork_server, "exit");
  EXPECT_EQ(r.end, End::exited);
  EXPECT_EQ(r.text, "exited with status 3");
}

TEST(Child, LimitsProcessorTimeAndAllowsMoreWallTime) {
  sandbox::ForkServer fork_server(misbehave);
  const sandbox::TaskResult spins = result(fork_server, "spin", {300ms, 60s});
  EXPECT_EQ(spins.end, End::timed_out);
  EXPECT_EQ(spins.text, "took more than 300 ms of processor time");
  EXPECT_EQ(result(fork_server, "doze", {100ms, 60s}).text, "did doze");
  const sandbox::TaskResult sleeps = result(fork_server, "sleep", {100ms, 1s});
  EXPECT_EQ(sleeps.end, End::timed_out);
  EXPECT_EQ(sleeps.text, "took longer than 1 s");
}

TEST(Child, DoesNotLimitTheTimeInWhichItsClockIsStopped) {
  sandbox::ForkServer fork_server(misbehave);
  EXPECT_EQ(result(fork_server, "doze", {100ms, 300ms}).end, End::timed_out);
  EXPECT_EQ(result(fork_server, "prepare", {100ms, 300ms}).end, End::done);
  EXPECT_EQ(result(fork_server, "prepare and spin", {100ms, 60s}).end, End::timed_out);
}

TEST(Child, LimitsTheTimeOfEachTask) {
  sandbox::ForkServer fork_server(misbehave);
  sandbox::Child child(fork_server, {10s, 1s});
  for (int i = 0; i < 4; ++i) child.give("doze");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(child.next().end, End::done);
}

TEST(Child, RefusesAnAnswerThatIsNotAFrame) {
  sandbox::ForkServer fork_server(misbehave);
  EXPECT_EQ(result(fork_server, "garbage").end, End::garbled);
}

TEST(Child, ALostRemoteEndEndsTheTask) {
  sandbox::ForkServer fork_server(misbehave);
  const sandbox::TaskResult r = result(fork_server, "lost");
  EXPECT_EQ(r.end, End::crashed);
  EXPECT_EQ(r.signal, SIGFPE);
  EXPECT_EQ(r.text, "the device is gone");
}

TEST(Child, RecoversFromAnAbortAndSeparatesTheOutputOfTasks) {
  sandbox::ForkServer fork_server(misbehave);
  sandbox::Child child(fork_server, patient);
  const std::vector<std::string> words{"first", std::string(5000, 'x') + "second", "third"};
  for (const std::string& w : words) child.give("outlive " + w);
  child.give("count");
  for (const std::string& w : words) {
    const sandbox::TaskResult r = child.next();
    EXPECT_EQ(r.end, End::recovered);
    EXPECT_EQ(r.signal, SIGABRT);
    EXPECT_EQ(r.text, "aborted");
    EXPECT_EQ(r.output, (w + "\n").substr(w.size() + 1 - std::min<std::size_t>(w.size() + 1, 2048)));
    EXPECT_TRUE(child.has_recovered());
  }
  EXPECT_EQ(child.next().text, "1");
  child.give("abort");
  EXPECT_EQ(child.next().output, "the last words\n");
  EXPECT_FALSE(child.lives());
}

TEST(Child, EndsAtAnAbortOutsideOfACall) {
  sandbox::ForkServer fork_server(misbehave);
  for (const char* task : {"abort elsewhere", "abort later"})
    EXPECT_EQ(result(fork_server, task).end, End::crashed) << task;
}

TEST(Child, ATaskAfterARecoveredAbortHasLessTime) {
  sandbox::ForkServer fork_server(misbehave);
  sandbox::Child child(fork_server, patient);
  for (const char* task : {"outlive it", "sleep"}) child.give(task);
  EXPECT_EQ(child.next().end, End::recovered);
  const sandbox::TaskResult r = child.next();
  EXPECT_EQ(r.end, End::timed_out);
  EXPECT_EQ(r.text, "did nothing for 100 ms");
}

TEST(Child, WaitsForAChildThatGetsNoProcessor) {
  sandbox::ForkServer fork_server(misbehave);
  sandbox::Child child(fork_server, patient);
  for (const char* task : {"outlive it", "gets no processor"}) child.give(task);
  EXPECT_EQ(child.next().end, End::recovered);
  EXPECT_EQ(child.next().text, "did gets no processor");
}

TEST(Child, AnErrorOfTheHostIsDistinctFromACrash) {
  sandbox::ForkServer fork_server(misbehave);
  const sandbox::TaskResult r = result(fork_server, "throw");
  EXPECT_EQ(r.end, End::threw);
  EXPECT_EQ(r.fault->message, "the host is wrong");
}

TEST(Child, AFaultKeepsItsRuleAndPlace) {
  sandbox::ForkServer fork_server(misbehave);
  const sandbox::TaskResult r = result(fork_server, "fault");
  EXPECT_EQ(r.end, End::threw);
  EXPECT_EQ(r.fault->outcome, Outcome::invalid);
  EXPECT_EQ(r.fault->rule, "case.call");
  EXPECT_EQ(r.fault->message, "there is no such call");
  EXPECT_EQ(r.fault->place, "case 3");
}

TEST(Child, ReportsThatATaskWasItsLast) {
  sandbox::ForkServer fork_server(misbehave);
  EXPECT_EQ(result(fork_server, "last").end, End::last);
  EXPECT_EQ(result(fork_server, "any").end, End::done);
}

TEST(Child, TransfersLargeTasksAndAnswers) {
  sandbox::ForkServer fork_server([](std::string_view task) { return sandbox::Work{std::string(task)}; });
  sandbox::Child child(fork_server, {60s, 600s});
  for (char c = 'a'; c < 'g'; ++c) child.give(std::string(3'000'000, c));
  for (char c = 'a'; c < 'g'; ++c) EXPECT_TRUE(child.next().text == std::string(3'000'000, c));
  sandbox::ForkServer other(misbehave);
  EXPECT_EQ(result(other, "large").text.size(), 5'000'000u);
}

TEST(Child, OutputDoesNotAppearAndDoesNotBlock) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    sandbox::ForkServer fork_server(misbehave);
    sandbox::Child child(fork_server, patient);
    child.give("chatter");
    child.give("abort");
    EXPECT_EQ(child.next().end, End::done);
    const sandbox::TaskResult r = child.next();
    EXPECT_LE(r.output.size(), 2048u);
    EXPECT_TRUE(r.output.ends_with("the last words\n"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Child, AllChildrenStartWithEqualMemory) {
  sandbox::ForkServer fork_server(misbehave, 3);
  const std::string first = result(fork_server, "address").text;
  std::vector<std::string> more;
  for (std::size_t i = 0; i < 10; ++i) {
    more.emplace_back(10'000 * i, 'x');
    EXPECT_EQ(result(fork_server, "count").text, "1");
    EXPECT_EQ(result(fork_server, "address").text, first);
  }
}

TEST(Child, AcceptsTasksFromManyThreads) {
  sandbox::ForkServer fork_server(misbehave, 3);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i)
        EXPECT_EQ(result(fork_server, i % 2 ? "segfault" : "a").end, i % 2 ? End::crashed : End::done);
    });
}

TEST(Child, AnInterruptEndsTheWait) {
  sandbox::ForkServer fork_server(misbehave);
  std::atomic<bool> interrupted = false;
  const std::jthread later([&] { std::this_thread::sleep_for(100ms), interrupted = true; });
  EXPECT_THROW(result(fork_server, "sleep", {10s, 100s, &interrupted}), sandbox::Interrupted);
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

TEST(Child, EndsWithItsParentAsTheForkServerDoes) {
  for (int signal : {SIGINT, SIGKILL}) {
    const pid_t parent = fork();
    if (parent == 0) {
      std::signal(SIGINT, SIG_DFL);
      sandbox::ForkServer fork_server(misbehave);
      sandbox::Child one(fork_server, patient), two(fork_server, patient);
      one.give("sleep");
      one.next();
      std::_Exit(0);
    }
    std::set<int> children;
    for (int i = 0; i < 500 && children.size() < 3; ++i) {
      std::this_thread::sleep_for(10ms);
      children = children_of(parent);
    }
    ASSERT_EQ(children.size(), 3u);
    std::this_thread::sleep_for(50ms);  // after the children's own set-up
    kill(parent, signal);
    int status = 0;
    waitpid(parent, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    for (int child : children) EXPECT_TRUE(gone_soon(child)) << child;
  }
}

TEST(Child, EndsWithItsOwner) {
  {
    sandbox::ForkServer fork_server(misbehave);
    sandbox::Child child(fork_server, patient);
    EXPECT_EQ(children_of(getpid()).size(), 2u);
  }
  EXPECT_TRUE(children_of(getpid()).empty());
}

}  // namespace child_test
}  // namespace assay
