#include "conformance/sandbox/death.h"

#include <csignal>

#include "conformance/sandbox/probe.h"

namespace assay {

Verdict verdict_on_death(const TaskResult& result) {
  return result.end == TaskResult::End::timed_out ? Verdict::timeout : Verdict::crash;
}

Class class_of_death(const TaskResult& result) {
  if (result.end == TaskResult::End::timed_out) return Class::none;
  if (result.end != TaskResult::End::crashed && result.end != TaskResult::End::recovered) return Class::exit;
  const auto said = [&](std::string_view words) { return result.output.find(words) != std::string::npos; };
  switch (result.signal) {
    case SIGSEGV:
      return said(uses_memory_of_earlier_call) || said(uses_freed_memory) ? Class::uses_freed
                                                                          : Class::segmentation_fault;
    case SIGBUS:
      return Class::bus_error;
    case SIGFPE:
      return Class::arithmetic_trap;
    case SIGILL:
    case SIGTRAP:
      return Class::illegal_instruction;
    case SIGABRT:  // glibc's message for a damaged heap, and the usual message of a failed assertion
      if (said("free(): ") || said("malloc(): ") || said("corrupted") || said("smashing")) return Class::heap_damage;
      return said("ssert") ? Class::assertion : Class::abort;
    default:
      return Class::signal;
  }
}

std::string words_of_death(const TaskResult& result) {
  return result.text + (result.output.empty() ? "" : "\n" + result.output);
}

}  // namespace assay
