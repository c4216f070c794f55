#pragma once

#include "command/options.h"
#include "reference/budget.h"

namespace assay {

// The defaults of --timeout, in seconds.
inline constexpr int case_seconds = 20;  // for a case of a kernel library or of a runtime
inline constexpr int call_seconds = 60;  // for a call of a method
inline constexpr int file_seconds = 2;   // for a file that a loader gets

inline constexpr int default_workers = 2;

// --max-bytes, --max-work and --max-output of a command.
inline void add_limits(Options& options, Budget::Limits& limits) {
  const auto add = [&](const char* name, Int& limit, const char* what) {
    options.add(name, limit, what).shows_default().not_negative();
  };
  add("--max-bytes", limits.bytes, "Limit of memory, in bytes");
  add("--max-work", limits.work, "Limit of work, in units of about a nanosecond");
  add("--max-output", limits.output, "Limit of what is printed, in bytes");
}

inline void add_no_map(Options& options, bool& map) {
  options.flag("--no-map", map, "Read files into memory, so that a file may be truncated meanwhile", false);
}

}  // namespace assay
