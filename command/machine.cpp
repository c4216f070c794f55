#include "command/machine.h"

#include <sys/utsname.h>

#include <fstream>

namespace assay::command {

std::string machine() {
  utsname system;
  uname(&system);
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line);)
    if (line.starts_with("model name")) return std::string(system.machine) + ", " + line.substr(line.find(':') + 2);
  return system.machine;
}

}  // namespace assay::command
