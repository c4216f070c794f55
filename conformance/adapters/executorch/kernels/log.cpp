#include "conformance/adapters/executorch/kernels/log.h"

#include <executorch/runtime/platform/platform.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace assay::executorch_kernels::log {
namespace {

constexpr std::size_t most = 1024;  // characters; later messages are dropped

std::string& kept() {
  static std::string text;
  return text;
}

void keep(et_timestamp_t, et_pal_log_level_t level, const char* file, const char*, std::size_t line,
          const char* message, std::size_t length) {
  if ((level != kError && level != kFatal) || kept().size() > most) return;
  if (!kept().empty()) kept() += "; ";
  kept().append(file).append(":").append(std::to_string(line)).append(": ").append(message, length);
}

[[noreturn]] void give_up() {
  const std::string last = kept() + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, last.data(), last.size());
  std::abort();
}

}  // namespace

void capture() {
  executorch::runtime::register_pal(
      executorch::runtime::PalImpl::create(nullptr, give_up, nullptr, nullptr, keep, nullptr, nullptr, __FILE__));
}

void clear() { kept().clear(); }

const std::string& errors() { return kept(); }

}  // namespace assay::executorch_kernels::log
