#include "command/addresses.h"

#include <sys/personality.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace assay::command {
namespace {

bool has_fixed_addresses() { return (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0; }

}  // namespace

verdict::NamedText addresses_fact() { return {"addresses", has_fixed_addresses() ? "fixed" : "random"}; }

void fix_addresses(char** argv) {
  const char* const bound = "LD_BIND_NOW";  // else each forked child binds symbols again
  unsetenv(bound);                          // programs that we start do not need it
  const int now = personality(0xffffffff);
  if (has_fixed_addresses() || personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) < 0) return;
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!has_fixed_addresses() || unknown) return;
  setenv(bound, "1", 1);
  execv(self.c_str(), argv);
}

}  // namespace assay::command
