#include "conformance/sandbox/recover.h"

#include <csetjmp>
#include <csignal>
#include <utility>

namespace assay::sandbox {
namespace {

thread_local sigjmp_buf* landing = nullptr;

void leave(int signal) {
  if (sigjmp_buf* const to = std::exchange(landing, nullptr)) siglongjmp(*to, 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // delivered as soon as this handler returns
}

struct Landing {
  explicit Landing(sigjmp_buf* here) { landing = here; }
  ~Landing() { landing = nullptr; }
};

}  // namespace

bool recovers_from_abort(const std::function<void()>& f) {
  [[maybe_unused]] static const auto before = std::signal(SIGABRT, leave);
  sigjmp_buf here;
  if (sigsetjmp(here, 1) != 0) return false;
  const Landing lands(&here);
  f();
  return true;
}

}  // namespace assay::sandbox
