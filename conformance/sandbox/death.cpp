#include "conformance/sandbox/death.h"

#include <csignal>

#include "conformance/sandbox/probe.h"

namespace assay::sandbox {

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
  return result.text + (result.output.empty() ? "" : "\n" + result.output);
}

}  // namespace assay::sandbox
