#include "command/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "conformance/text/printable.h"

namespace assay::command {

Progress::Progress(std::size_t planned) : planned_(planned), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::add(const verdict::Record& r) {
  ++judged_;
  failures_ += verdict::is_failure(r.verdict);
  show(fmt::format("{} of {} cases judged, {} failures, at {}", judged_, planned_, failures_,
                   text::printable(r.operator_name)));
}

void Progress::looks_into(std::string_view op) {
  show(fmt::format("{} cases judged, {} failures, looking for their causes, at {}", judged_, failures_,
                   text::printable(op)));
}

void Progress::show(const std::string& line) {
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
  shown_ = now;
  std::cerr << (terminal_ ? "\r\x1b[K" + line : line + "\n") << std::flush;
}

}  // namespace assay::command
