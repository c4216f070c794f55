#include "command/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "conformance/text/printable.h"

namespace assay::command {

Progress::Progress(std::size_t planned) : planned_(planned), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  end_watch();
  if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::add(const verdict::Record& r) {
  ++judged_;
  failures_ += verdict::is_failure(r.verdict);
  say(fmt::format("{} of {} cases judged, {} failures, at {}", judged_, planned_, failures_,
                  text::printable(r.operator_name)));
}

void Progress::looks_into(std::string_view op) {
  say(fmt::format("{} cases judged, {} failures, looking for their causes, at {}", judged_, failures_,
                  text::printable(op)));
}

void Progress::watch(std::function<std::string()> waiting) {
  waiting_ = std::move(waiting);
  ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

void Progress::end_watch() { ticker_ = {}; }

void Progress::tick(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; }) && !stop.stop_requested())
    if (!waiting_().empty()) show();
}

void Progress::say(std::string line) {
  const std::lock_guard lock(mutex_);
  line_ = std::move(line);
  show();
}

void Progress::show() {
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
  shown_ = now;
  const std::string waiting = waiting_ ? waiting_() : "";
  const std::string line = waiting.empty() ? line_ : fmt::format("{}; waiting for {}", line_, waiting);
  std::cerr << (terminal_ ? "\r\x1b[K" + line : line + "\n") << std::flush;
}

}  // namespace assay::command
