#include <format/kind.h>

#include <algorithm>
#include <cstdio>

#include "../file.h"

// Tells the kind of a file, and the areas of its rules. Usage: header program.pte
int main(int, char** arguments) {
  const std::vector<std::byte> file = bytes_of(arguments[1]);
  const std::span<const std::byte> bytes(file);
  const auto* kind = assay::format::file_kind(bytes.first(std::min(assay::format::head_bytes, bytes.size())));
  if (!kind) return 1;
  std::printf("%.*s\n", static_cast<int>(kind->noun.size()), kind->noun.data());
  for (const auto& area : kind->areas) std::printf("  rules %c: %s\n", area.letter, area.name.data());
  return 0;
}
