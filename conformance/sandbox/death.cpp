#include "conformance/sandbox/death.h"

#include <unistd.h>

#include <csignal>

#include "conformance/sandbox/fork_server.h"
#include "conformance/sandbox/probe.h"

namespace assay::sandbox {
namespace {

// Begins a line of a child's stderr that tells the circumstance of the calls that follow; the line is empty behind it
// if there is none.
constexpr std::string_view announcement = "assay: circumstance: ";

// Only a worker has a parent that reads the line.
void announce(std::string_view words) {
  if (!is_worker()) return;
  const std::string line = concat(announcement, words, "\n");
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

// Removes the announcements from an output. Returns the last.
std::string take_announcements(std::string& output) {
  std::string last;
  for (std::size_t at = output.find(announcement); at != std::string::npos; at = output.find(announcement, at)) {
    const std::size_t begin = at + announcement.size(), end = std::min(output.find('\n', begin), output.size());
    last = output.substr(begin, end - begin);
    output.erase(at, std::min(end + 1, output.size()) - at);
  }
  return last;
}

}  // namespace

Circumstance::Circumstance(std::string_view words) { announce(words); }
Circumstance::~Circumstance() { announce(""); }

verdict::Verdict verdict_on_death(const TaskResult& result) {
  return result.end == TaskResult::End::timed_out ? verdict::Verdict::timeout : verdict::Verdict::crash;
}

verdict::Class class_of_death(const TaskResult& result) {
  if (result.end == TaskResult::End::timed_out) return verdict::Class::none;
  if (result.end != TaskResult::End::crashed && result.end != TaskResult::End::recovered) return verdict::Class::exit;
  const auto said = [&](std::string_view words) { return result.output.find(words) != std::string::npos; };
  switch (result.signal) {
    case SIGSEGV:
      return said(uses_memory_of_earlier_call) || said(uses_freed_memory) ? verdict::Class::uses_freed
                                                                          : verdict::Class::segmentation_fault;
    case SIGBUS:
      return verdict::Class::bus_error;
    case SIGFPE:
      return verdict::Class::arithmetic_trap;
    case SIGILL:
    case SIGTRAP:
      return verdict::Class::illegal_instruction;
    case SIGABRT:  // glibc's message for a damaged heap, and the usual message of a failed assertion
      if (said("free(): ") || said("malloc(): ") || said("corrupted") || said("smashing"))
        return verdict::Class::heap_damage;
      return said("ssert") ? verdict::Class::assertion : verdict::Class::abort;
    default:
      return verdict::Class::signal;
  }
}

std::string words_of_death(const TaskResult& result) {
  std::string output = result.output;
  const std::string circumstance = take_announcements(output);
  return concat(circumstance, circumstance.empty() ? "" : ": ", result.text, output.empty() ? "" : "\n", output);
}

}  // namespace assay::sandbox
