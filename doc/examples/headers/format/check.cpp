#include <format/check.h>

#include <algorithm>
#include <cstdio>

#include "../file.h"

using namespace assay::format;

// Checks all rules of a program. The first call of check() counts the memory that the second call needs.
// Usage: header program.pte
int main(int, char** arguments) {
  const std::vector<std::byte> file = bytes_of(arguments[1]);
  const std::span<const std::byte> bytes(file);
  const auto tell = [](void*, const Finding& finding) {
    std::printf("%s: %.*s\n", finding.rule.id.data(), static_cast<int>(finding.message.size()), finding.message.data());
    return true;
  };
  Findings findings(tell, nullptr);
  const auto at = locate_program(bytes.first(std::min(head_bytes, bytes.size())), bytes.size(), findings);
  if (!at) return 1;
  const auto program = open_program(bytes.first(at->tables_size),
                                    bytes.subspan(at->segments_begin, at->segments_size), findings);
  if (!program) return 1;
  Workspace counting;
  check(*program, {}, counting, findings);
  std::vector<std::max_align_t> memory(counting.most() / sizeof(std::max_align_t) + 1);
  Workspace workspace(std::as_writable_bytes(std::span(memory)));
  check(*program, {}, workspace, findings);
  return findings.none() ? 0 : 1;
}
