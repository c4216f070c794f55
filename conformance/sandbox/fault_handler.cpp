#include "conformance/sandbox/fault_handler.h"

#include <unistd.h>

#include <array>
#include <csignal>

#include "conformance/sandbox/heap.h"

namespace assay::sandbox {
namespace {

GuardedRegions* handled = nullptr;

void handle_fault(int signal, siginfo_t* info, void*) {
  if (handled && handled->let_pass(info->si_addr)) return;
  const std::string_view said = handled && handled->was_retired(info->si_addr) ? uses_memory_of_earlier_call
                                : heap::was_retired(info->si_addr)             ? uses_freed_memory
                                                                               : std::string_view();
  static_cast<void>(!::write(STDERR_FILENO, said.data(), said.size()));
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // delivered as soon as this handler returns
}

}  // namespace

FaultHandler::FaultHandler(GuardedRegions& regions) {
  handled = &regions;
  static std::array<std::byte, 1 << 14> stack;  // an overflown stack has no room for the handler
  const stack_t alternative{stack.data(), 0, stack.size()};
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK);
  action.sa_sigaction = handle_fault;
  sigaction(SIGSEGV, &action, nullptr);
}

FaultHandler::~FaultHandler() { handled = nullptr; }

}  // namespace assay::sandbox
