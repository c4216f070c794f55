#include "bench/process.h"

#include <malloc.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "conformance/sandbox/processors.h"
#include "reference/fault.h"

namespace assay::bench {
namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// A line of /proc/self/status, in bytes.
std::optional<Int> status(const std::string& name) {
  std::ifstream lines("/proc/self/status");
  for (std::string word; lines >> word;)
    if (Int kilobytes = 0; word == name && lines >> kilobytes) return kilobytes << 10;
  return std::nullopt;
}

bool forget_peak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush); }

}  // namespace

std::vector<int> keep_on_processors(int count) {
  std::vector<int> first = sandbox::processors();
  if (static_cast<std::size_t>(count) > first.size())
    throw Fault(Outcome::unsupported, "bench.threads",
                concat(count, " threads want a processor each, but there are ", first.size()));
  first.resize(static_cast<std::size_t>(count));
  sandbox::keep_on(first);
  return first;
}

void wait_until_quiet() {
  // The processor time of a thread that runs is known as of the last tick of the system's clock, every 10 ms at least.
  constexpr auto some_ticks = 12ms, nothing = 1ms;
  for (int i = 0; i < 20; ++i) {
    const auto before = processor_time();
    std::this_thread::sleep_for(some_ticks);
    if (processor_time() - before < nothing) return;
  }
}

PeakMemory::PeakMemory() {
  malloc_trim(0);
  if (forget_peak()) before_ = status("VmRSS:");
}

std::optional<Int> PeakMemory::bytes() const {
  const auto peak = status("VmHWM:");
  return before_ && peak ? std::optional(*peak - *before_) : std::nullopt;
}

}  // namespace assay::bench
