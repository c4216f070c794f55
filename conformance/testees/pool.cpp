#include "conformance/testees/pool.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "conformance/testees/worker.h"
#include "reference/fault.h"

namespace assay {
namespace {

using End = TaskResult::End;

// A queue hides the time that messages take from children with short tasks; behind a long task nothing should wait.
constexpr std::size_t deep_queue = 16, shallow_queue = 2;
constexpr auto short_task = std::chrono::milliseconds(1);

std::string answer(const Pool::Work& work, std::string_view task) {
  try {
    return encode(static_cast<std::uint32_t>(End::done), work(task));
  } catch (const std::exception& e) {
    return encode(static_cast<std::uint32_t>(End::threw), e.what());
  }
}

void work_until_closed(int socket, const Pool::Work& work) {
  FrameReader frames;
  for (std::string bytes = receive_some(socket); !bytes.empty(); bytes = receive_some(socket)) {
    frames.append(bytes);
    while (const auto task = frames.next())
      if (!send_all(socket, answer(work, task->text))) return;
  }
}

TaskResult death(int status) {
  if (WIFSIGNALED(status))
    return {End::crashed, text("crashed with signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")")};
  return {End::exited, text("exited with status ", WEXITSTATUS(status))};
}

}  // namespace

Pool::Pool(int workers, std::chrono::milliseconds timeout, Work work) : timeout_(timeout), work_(std::move(work)) {
  for (int i = 0; i < workers; ++i) workers_.push_back(hired());
}

Pool::~Pool() = default;

std::unique_ptr<Worker> Pool::hired() {
  std::vector<int> inherited;
  for (const auto& w : workers_)
    if (w) inherited.insert(inherited.end(), {w->socket(), w->output()});
  return std::make_unique<Worker>([this](int socket) { work_until_closed(socket, work_); }, inherited);
}

void Pool::run(const Next& next, const Done& done) {
  for (;;) {
    for (const auto& w : workers_) fill(*w, next);
    if (std::ranges::all_of(workers_, [](const auto& w) { return w->tasks().empty(); })) return;
    wait();
    for (auto& w : workers_) serve(w, done);
  }
}

void Pool::fill(Worker& worker, const Next& next) {
  const std::size_t depth = worker.pace() < short_task ? deep_queue : shallow_queue;
  if (worker.tasks().size() > depth / 2) return;
  while (worker.tasks().size() < depth) {
    std::optional<std::string> task;
    if (returned_.empty()) {
      task = next();
    } else {
      task = std::move(returned_.front());
      returned_.pop_front();
    }
    if (!task) break;
    worker.push(std::move(*task));
  }
  worker.send();
}

void Pool::serve(std::unique_ptr<Worker>& worker, const Done& done) {
  worker->read_output();
  worker->send();
  const bool alive = worker->receive();
  if (!take_answers(*worker, done))
    return bury(worker, TaskResult{End::garbled, "sent something that is no answer"}, done);
  if (!alive) return bury(worker, std::nullopt, done);
  if (!worker->tasks().empty() && Worker::Clock::now() - worker->since() > timeout_)
    bury(worker, TaskResult{End::timed_out, text("took longer than ", timeout_.count(), " ms")}, done);
}

bool Pool::take_answers(Worker& worker, const Done& done) {
  while (const auto frame = worker.frames().next()) {
    if (worker.tasks().empty() || frame->kind > static_cast<std::uint32_t>(End::threw)) return false;
    const std::string task = worker.pop();
    done(task, {static_cast<End>(frame->kind), frame->text});
  }
  return !worker.frames().garbled();
}

void Pool::bury(std::unique_ptr<Worker>& worker, std::optional<TaskResult> killed, const Done& done) {
  const int status = worker->wait_for_death();
  TaskResult result = killed ? *killed : death(status);
  if (!worker->tail().empty()) result.text += "\n" + worker->tail();
  std::deque<std::string> tasks = worker->tasks();
  worker.reset();
  worker = hired();
  if (tasks.empty()) return;
  const std::string task = std::move(tasks.front());
  tasks.pop_front();
  returned_.insert(returned_.end(), std::make_move_iterator(tasks.begin()), std::make_move_iterator(tasks.end()));
  done(task, result);
}

// Until a child says something, or the first deadline passes.
void Pool::wait() const {
  std::vector<pollfd> watched;
  auto left = Worker::Clock::duration(timeout_);
  for (const auto& w : workers_) {
    watched.push_back({w->socket(), static_cast<short>(w->unsent() ? POLLIN | POLLOUT : POLLIN), 0});
    watched.push_back({w->output(), POLLIN, 0});
    if (!w->tasks().empty()) left = std::min(left, w->since() + timeout_ - Worker::Clock::now());
  }
  const auto milliseconds =
      std::chrono::ceil<std::chrono::milliseconds>(std::max(left, Worker::Clock::duration::zero()));
  if (poll(watched.data(), watched.size(), static_cast<int>(milliseconds.count())) < 0 && errno != EINTR)
    throw std::system_error(errno, std::generic_category(), "poll");
}

}  // namespace assay
