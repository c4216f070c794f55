#include "conformance/sandbox/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "reference/fault.h"

namespace assay::sandbox {
namespace {

using End = TaskResult::End;
using namespace std::chrono_literals;

constexpr std::size_t tail_bytes = 2048,
                      kept_bytes =
                          8 * tail_bytes;  // tail_bytes: kept of one task; kept_bytes: kept before output is read
constexpr auto glance = 200ms;             // the interval at which a waiting caller checks `interrupted`
constexpr auto stuck = 100ms;  // idle time after which a child that recovered from a signal counts as stuck: it may
                               // wait for a lock forever
constexpr char recovered_here = '\0';  // marks in the output where the child recovered

// Kinds of frames beside the ends of tasks: what a child says about the time of its task.
constexpr std::uint8_t clock_stops = 254, clock_goes_on = 255;

int parent = -1;  // in a child, the socket to its parent while it does a task

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

std::string receive_some(int socket) {
  std::array<char, 1 << 16> bytes;
  const auto got = uninterrupted([&] { return recv(socket, bytes.data(), bytes.size(), 0); });
  return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = uninterrupted([&] { return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string encode(End end, std::string_view text) { return sandbox::encode(static_cast<std::uint8_t>(end), text); }

std::string encode(const Fault& f) {
  std::string text(1, static_cast<char>(f.outcome));
  for (const std::string& part : {f.rule, f.place, f.message}) text += part + '\0';
  return encode(End::threw, text);
}

std::optional<Fault> fault_in(std::string_view text) {
  const auto outcome = static_cast<std::size_t>(text.empty() ? 0 : text[0]);
  if (outcome == 0 || outcome >= std::size(outcome_names)) return std::nullopt;
  std::array<std::string, 3> parts;
  for (std::size_t begin = 1; std::string & part : parts) {
    const std::size_t end = text.find('\0', begin);
    if (end >= text.size()) return std::nullopt;
    part = text.substr(begin, end - begin), begin = end + 1;
  }
  return Fault(static_cast<Outcome>(outcome), parts[0], parts[2], parts[1]);
}

std::string answer(const std::function<Work(std::string_view)>& work, std::string_view task) {
  try {
    const Work done = work(task);
    return encode(done.last ? End::last : End::done, done.text);
  } catch (const Lost& lost) {
    if (lost.end == End::recovered) static_cast<void>(!::write(STDERR_FILENO, &recovered_here, 1));
    return encode(lost.end, static_cast<char>(lost.signal) + lost.text);
  } catch (const Fault& f) {
    return encode(f);
  } catch (const std::exception& e) {
    return encode(Fault(Outcome::exhausted, "testee", e.what()));
  }
}

// The last lines of an output. If not even the last line fits, its end.
std::string end_of(std::string_view output) {
  if (output.size() <= tail_bytes) return std::string(output);
  output.remove_prefix(output.size() - tail_bytes);
  const std::size_t line = output.substr(0, output.size() - 1).find('\n');
  return std::string(output.substr(line == std::string_view::npos ? 0 : line + 1));
}

// True if every thread of the process is blocked and none is ready to run.
bool sleeps(pid_t process) {
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(concat("/proc/", process, "/task"), gone)) {
    std::ifstream file(thread.path() / "stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name = stat.rfind(") ");
    if (name != std::string::npos && stat[name + 2] != 'S') return false;
  }
  return true;
}

std::string shown(std::chrono::milliseconds time) {
  return time % 1s == 0ms ? concat(time / 1s, " s") : concat(time.count(), " ms");
}

}  // namespace

TimeLimit time_limit_of(std::chrono::milliseconds time, bool is_remote, const std::atomic<bool>* interrupted) {
  constexpr int walls = 10;
  return {time, is_remote ? time : walls * time, interrupted};
}

TaskResult death_of(int status) {
  if (!WIFSIGNALED(status)) return {End::exited, concat("exited with status ", WEXITSTATUS(status)), 0, {}, {}};
  const int signal = WTERMSIG(status);
  return {End::crashed, concat("crashed with signal ", signal, " (", strsignal(signal), ")"), signal, {}, {}};
}

void work_until_closed(int socket, const std::function<Work(std::string_view)>& work) {
  FrameReader frames;
  for (std::string bytes = receive_some(socket); !bytes.empty(); bytes = receive_some(socket)) {
    frames.append(bytes);
    while (const auto task = frames.next()) {
      parent = socket;
      const std::string answered = answer(work, task->text);
      parent = -1;
      if (!send_all(socket, answered)) return;
    }
  }
}

StoppedClock::StoppedClock() {
  if (parent >= 0) send_all(parent, sandbox::encode(clock_stops, ""));
}
StoppedClock::~StoppedClock() {
  if (parent >= 0) send_all(parent, sandbox::encode(clock_goes_on, ""));
}

Child::Child(ForkServer& fork_server, const TimeLimit& time_limit) : time_limit_(time_limit) {
  std::array<int, 2> sockets{}, pipe_ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) fail("socketpair");
  if (pipe2(pipe_ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) fail("pipe2");
  fcntl(pipe_ends[1], F_SETFL, 0);  // the child writes in blocking mode
  socket_ = sockets[0], output_ = pipe_ends[0];
  pid_ = fork_server.fork_child(sockets, pipe_ends[1]);
}

Child::~Child() {
  if (pid_ >= 0) death(End::crashed, "");
  close(socket_);
  if (output_ >= 0) close(output_);
}

void Child::give(std::string_view task) {
  if (due_++ == 0) begin();
  unsent_ += sandbox::encode(0, task);
}

void Child::begin() {
  since_ = Clock::now(), used_ = processor_time();
  is_asleep_ = clock_stands_ = false;
}

bool Child::is_about_clock(const Frame& frame) {
  if (frame.kind == clock_goes_on) begin();
  if (frame.kind == clock_stops) clock_stands_ = true;
  return frame.kind == clock_goes_on || frame.kind == clock_stops;
}

TaskResult Child::next() {
  for (;;) {
    if (auto result = answered()) return *result;
    if (frames_.broken()) return death(End::garbled, "sent something that is no answer");
    if (auto result = lost()) return *result;
    if (time_limit_.interrupted && *time_limit_.interrupted) throw Interrupted{};
    if (!exchange()) {
      if (auto result = answered()) return *result;  // the child answered before it died
      return death(End::crashed, "");
    }
  }
}

std::optional<TaskResult> Child::answered() {
  auto frame = frames_.next();
  while (frame && is_about_clock(*frame)) frame = frames_.next();
  if (!frame) return std::nullopt;
  --due_;
  const auto end = static_cast<End>(frame->kind);
  if (end > End::recovered || (end > End::threw && frame->text.size() < 2))
    return death(End::garbled, "sent something that is no answer");
  if (end > End::threw && end < End::recovered)  // the child cannot know these ends, which its parent determines
    return death(end, frame->text.substr(1), frame->text[0]);
  begin();
  if (end == End::recovered) return recovered(frame->text.substr(1), frame->text[0]);
  if (end != End::threw) return TaskResult{end, frame->text, 0, {}, {}};
  auto fault = fault_in(frame->text);
  if (!fault) return death(End::garbled, "sent something that is no answer");
  return TaskResult{end, {}, 0, {}, std::move(fault)};
}

std::optional<TaskResult> Child::lost() {
  if (clock_stands_) return std::nullopt;
  const auto waited = Clock::now() - since_;
  if (waited > time_limit_.wall) return death(End::timed_out, concat("took longer than ", shown(time_limit_.wall)));
  // One thread cannot have used up its processor time earlier.
  if (waited > time_limit_.processor && processor_time() - used_ > time_limit_.processor)
    return death(End::timed_out, concat("took more than ", shown(time_limit_.processor), " of processor time"));
  const bool was_asleep = std::exchange(
      is_asleep_, has_recovered_ && waited > stuck && processor_time() - used_ < stuck / 10 && sleeps(pid_));
  if (was_asleep && is_asleep_)  // asleep at two checks in a row
    return death(End::timed_out, concat("did nothing for ", shown(stuck)));
  return std::nullopt;
}

// The output of this task is complete here: it was sent before the answer, and ends with a mark.
TaskResult Child::recovered(std::string sentence, int signal) {
  read_output();
  const std::size_t end = std::min(tail_.find(recovered_here), tail_.size());
  TaskResult result{End::recovered, std::move(sentence), signal, end_of(std::string_view(tail_).substr(0, end)), {}};
  tail_.erase(0, end + 1);
  has_recovered_ = true;
  return result;
}

std::chrono::nanoseconds Child::processor_time() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return used_;  // the child is dead
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A child that is already dying keeps its own exit status.
TaskResult Child::death(End killed, std::string sentence, int signal) {
  int status = 0;
  kill(pid_, SIGKILL);
  uninterrupted([&] { return waitpid(pid_, &status, 0); });
  pid_ = -1;
  read_output();
  TaskResult result = sentence.empty() ? death_of(status) : TaskResult{killed, std::move(sentence), signal, {}, {}};
  result.output = end_of(tail_);
  return result;
}

bool Child::exchange() {
  std::array<pollfd, 2> watched{
      {{socket_, static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0}, {output_, POLLIN, 0}}};
  const auto longest = std::min<std::chrono::milliseconds>(time_limit_.processor, time_limit_.wall);
  const auto pause = std::clamp<std::chrono::milliseconds>(longest / 4, 1ms, glance);
  if (poll(watched.data(), watched.size(), static_cast<int>(pause.count())) < 0 && errno != EINTR) fail("poll");
  if (watched[1].revents != 0) read_output();
  if (!unsent_.empty()) {
    const auto sent =
        uninterrupted([&] { return send(socket_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT); });
    if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));  // else the socket is full, or the child is dead
  }
  if ((watched[0].revents & ~POLLOUT) == 0) return true;  // nothing to receive
  std::array<char, 1 << 16> bytes;
  const auto got = uninterrupted([&] { return recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT); });
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
  if (got > 0) frames_.append({bytes.data(), static_cast<std::size_t>(got)});
  return got > 0;
}

void Child::read_output() {
  std::array<char, 1 << 12> bytes;
  while (output_ >= 0) {
    const auto got = uninterrupted([&] { return ::read(output_, bytes.data(), bytes.size()); });
    if (got < 0) return;
    if (got == 0) {  // the child has closed its end: poll() would return at once for this descriptor
      close(output_);
      output_ = -1;
      return;
    }
    tail_.append(bytes.data(), static_cast<std::size_t>(got));
    if (tail_.size() > kept_bytes) tail_.erase(0, tail_.size() - kept_bytes);
  }
}

}  // namespace assay::sandbox
