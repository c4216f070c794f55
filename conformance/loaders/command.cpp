#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <optional>

#include "conformance/files/file.h"
#include "conformance/files/temporary_folder.h"
#include "conformance/loaders/isolated_loader.h"
#include "conformance/sandbox/child.h"
#include "conformance/sandbox/death.h"
#include "conformance/testee/no_testee.h"

namespace assay::loaders {
namespace {

namespace fs = std::filesystem;
using corrupt::Files;
using Clock = std::chrono::steady_clock;

void limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  const rlimit limits{soft, hard};
  setrlimit(resource, &limits);
}
void limit(__rlimit_resource resource, rlim_t most) { limit(resource, most, most); }

[[noreturn]] void become(const std::vector<std::string>& words, int output, const LoadLimits& limits) {
  setpgid(0, 0);  // a process group, so that its child processes are ended with it
  limit(RLIMIT_CORE, 0);
  const auto seconds = static_cast<rlim_t>((limits.time.count() + 999) / 1000);
  limit(RLIMIT_CPU, seconds, seconds + 1);  // SIGXCPU at the first limit, SIGKILL at the second
  limit(RLIMIT_FSIZE, limits.output);
  if (limits.memory != 0) limit(RLIMIT_AS, limits.memory);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO), dup2(output, STDOUT_FILENO), dup2(output, STDERR_FILENO);
  setenv("ASAN_OPTIONS", "abort_on_error=1:detect_leaks=0", 0);
  setenv("UBSAN_OPTIONS", "abort_on_error=1:halt_on_error=1", 0);
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  constexpr int not_found = 127;  // the exit code that a shell uses
  _exit(not_found);
}

class Process {
 public:
  Process(const std::vector<std::string>& words, const LoadLimits& limits, std::chrono::milliseconds wall)
      : limits_(limits), wall_(wall) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Fault(Outcome::exhausted, "output", "there is no pipe");
    output_ = ends[0];
    pid_ = fork();
    if (pid_ == 0) fcntl(ends[1], F_SETFL, 0), become(words, ends[1], limits);
    close(ends[1]);
    if (pid_ < 0) throw Fault(Outcome::exhausted, "testee", "there is no process");
  }
  ~Process() { close(output_); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Throws Interrupted.
  LoadOutcome wait() {
    const auto end = Clock::now() + wall_;
    int status = 0;
    std::optional<LoadOutcome> cut;
    bool is_interrupted = false;
    while (!cut && !is_interrupted && waitpid(pid_, &status, WNOHANG) == 0) {
      read_output();
      is_interrupted = limits_.interrupted && *limits_.interrupted;
      if (Clock::now() > end)
        cut = LoadOutcome{LoadOutcome::End::hung, verdict::Class::none, "took longer than its time"};
      if (written_ > limits_.output)
        cut = LoadOutcome{LoadOutcome::End::exhausted, verdict::Class::none, "wrote more than its limit"};
    }
    kill(-pid_, SIGKILL);
    if (cut || is_interrupted) sandbox::uninterrupted([&] { return waitpid(pid_, &status, 0); });
    if (is_interrupted) throw sandbox::Interrupted{};
    read_output();
    return cut ? *cut : load_outcome(status);
  }

 private:
  void read_output() {
    constexpr int pause = 20;  // milliseconds between two checks
    pollfd watched{output_, POLLIN, 0};
    poll(&watched, 1, pause);
    std::array<char, 4096> bytes;
    for (ssize_t n; (n = ::read(output_, bytes.data(), bytes.size())) > 0;) {
      written_ += static_cast<std::uint64_t>(n);
      tail_.append(bytes.data(), static_cast<std::size_t>(n));
      constexpr std::size_t most = 2048;
      if (tail_.size() > most) tail_.erase(0, tail_.size() - most);
      if (written_ > limits_.output) return;
    }
  }

  // A shell reports that a signal ended its command by the exit code 128 plus the signal's number.
  LoadOutcome load_outcome(int status) const {
    constexpr int shell = 128, not_found = 127;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFEXITED(status) && code == not_found)
      testee::no_testee("the command cannot be started: it ends with exit code 127");
    sandbox::TaskResult result = sandbox::death_of(code > shell ? code - shell : status);
    result.output = tail_;
    if (WIFEXITED(status) && code <= shell)
      return {code == 0 ? LoadOutcome::End::accepted : LoadOutcome::End::refused, verdict::Class::none, tail_};
    if (result.signal == SIGXCPU)
      return {LoadOutcome::End::hung, verdict::Class::none, "took more than its time of the processor"};
    if (tail_.find("bad_alloc") != tail_.npos || result.signal == SIGXFSZ || result.signal == SIGKILL)
      return {LoadOutcome::End::exhausted, verdict::Class::none, sandbox::words_of_death(result)};
    return {LoadOutcome::End::crashed, sandbox::class_of_death(result), sandbox::words_of_death(result)};
  }

  LoadLimits limits_;
  std::chrono::milliseconds wall_;
  pid_t pid_ = -1;
  int output_ = -1;
  std::uint64_t written_ = 0;
  std::string tail_;
};

class Command final : public IsolatedLoader {
 public:
  Command(std::vector<std::string> words, const LoadLimits& limits) : words_(std::move(words)), limits_(limits) {}

  std::vector<LoadOutcome> load(std::span<const Files> files) override {
    std::vector<LoadOutcome> load_outcomes;
    for (const Files& f : files) {
      if (hangs_.are_too_many()) {
        load_outcomes.push_back(left_out());
        continue;
      }
      const auto words = words_for(f);
      const auto begin = Clock::now();
      const auto wall = hangs_.wall_limit(sandbox::time_limit_of(limits_.time, false).wall);
      load_outcomes.push_back(Process(words, limits_, wall).wait());
      load_outcomes.back().seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      hangs_.note(load_outcomes.back());
    }
    return load_outcomes;
  }

 private:
  // The words with the files in place of {} and {data}.
  std::vector<std::string> words_for(const Files& files) const {
    std::vector<std::string> words;
    const fs::path program = folder_ / "program.pte";
    files::write_file(program, files.file);
    for (const std::string& w : words_)
      if (w == "{data}")
        for (std::size_t i = 0; i < files.data.size(); ++i) {
          const fs::path data = folder_ / concat("data", i, ".ptd");
          files::write_file(data, files.data[i]);
          words.push_back(data.string());
        }
      else
        words.push_back(w == "{}" ? program.string() : w);
    return words;
  }

  std::vector<std::string> words_;
  LoadLimits limits_;
  files::TemporaryFolder folder_;
  Hangs hangs_;
};

}  // namespace

std::unique_ptr<IsolatedLoader> load_by_command(std::vector<std::string> words, const LoadLimits& limits) {
  if (std::ranges::find(words, "{}") == words.end()) testee::no_testee("the command has no {} where it takes the file");
  return std::make_unique<Command>(std::move(words), limits);
}

}  // namespace assay::loaders
