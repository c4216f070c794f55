#pragma once

#include <CLI/App.hpp>
#include <memory>

#include "conformance/files/file.h"

namespace assay {

// --max-bytes, --max-work and --max-output of a subcommand.
inline void add_limits(CLI::App& command, Budget::Limits& limits) {
  const auto add = [&](const char* name, Int& limit, const char* what) {
    command.add_option(name, limit, what)->capture_default_str()->check(CLI::NonNegativeNumber);
  };
  add("--max-bytes", limits.bytes, "Limit of memory, in bytes");
  add("--max-work", limits.work, "Limit of work, in units of about a nanosecond");
  add("--max-output", limits.output, "Limit of what is printed, in bytes");
}

inline void add_no_map(CLI::App& command, bool& map) {
  command.add_flag_callback(
      "--no-map", [&map] { map = false; },
      "Read files into memory, so that nothing happens if one is truncated meanwhile");
}

}  // namespace assay
