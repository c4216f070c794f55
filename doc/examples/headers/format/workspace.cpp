#include <format/workspace.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// The same code first counts the memory that it needs, then takes it.
bool work(assay::format::Workspace& workspace) {
  const assay::format::Workspace::Scope scope(workspace);
  const auto order = workspace.take<std::uint32_t>(100);
  return order.size() == 100;
}

int main() {
  assay::format::Workspace counting;
  if (work(counting)) return 1;
  std::vector<std::max_align_t> memory(counting.most() / sizeof(std::max_align_t) + 1);
  assay::format::Workspace workspace(std::as_writable_bytes(std::span(memory)));
  return work(workspace) && workspace.has_room() ? 0 : 1;
}
