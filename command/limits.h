#pragma once

#include "command/options.h"
#include "reference/budget.h"

namespace assay::command {

// The defaults of --timeout, in seconds.
inline constexpr int case_seconds = 20;  // for a case of a kernel library or of a runtime
inline constexpr int call_seconds = 60;  // for a call of a method
inline constexpr int file_seconds = 2;   // for a file that a loader gets

inline constexpr int default_workers = 2;

inline void add_limit(Options& options, const char* name, Int& limit, const char* unit, const char* what) {
  options.add(name, limit, what).value(unit).at_least(0).shows_default();
}

// --max-bytes, --max-work and --max-output of a command.
inline void add_limits(Options& options, Budget::Limits& limits) {
  add_limit(options, "--max-bytes", limits.bytes, "BYTES", "Refuses to use more memory than BYTES");
  add_limit(options, "--max-work", limits.work, "UNITS",
            "Refuses to do more work than UNITS; a unit is the work of about one nanosecond");
  add_limit(options, "--max-output", limits.output, "BYTES", "Refuses to print more than BYTES");
}

inline void add_no_map(Options& options, bool& map) {
  options.flag("--no-map", map,
               "Reads files into memory instead of mapping them; use this if another process may truncate a file "
               "while assay runs",
               false);
}

}  // namespace assay::command
