#include "bench/process.h"

#include <malloc.h>
#include <sched.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "reference/fault.h"

namespace assay::bench {
namespace {

using namespace std::chrono_literals;

std::vector<int> members(const cpu_set_t& set) {
  std::vector<int> all;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) all.push_back(static_cast<int>(i));
  return all;
}

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
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> processors = members(set);
  if (static_cast<std::size_t>(count) > processors.size())
    throw Fault(Outcome::unsupported, "bench.threads",
                text(count, " threads want a processor each, but there are ", processors.size()));
  processors.resize(static_cast<std::size_t>(count));
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
  sched_setaffinity(0, sizeof set, &set);
  return processors;
}

void wait_until_quiet() {
  constexpr auto nothing = 100us;
  for (int i = 0; i < 100; ++i) {
    const auto before = processor_time();
    std::this_thread::sleep_for(2ms);
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
