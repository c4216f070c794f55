#include <algorithm>
#include <array>
#include <memory>

#include "format/check.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"
#include "reference/program/program.h"

// Checks the rules of files as a runtime does it: without heap, in memory of the caller with any initial content. The
// verdict must be the same as the verdict of the reference.
namespace assay::fuzz {
namespace {

using format::Findings;

struct Verdict {
  std::array<const FormatRule*, 100> rules{};
  std::size_t told = 0;

  Findings findings() { return Findings(add, this, rules.size()); }
  static bool add(void* verdict, const format::Finding& f) {
    auto& v = *static_cast<Verdict*>(verdict);
    v.rules[v.told++] = &f.rule;
    return true;
  }
  bool operator==(const Verdict&) const = default;
};

// Memory for tables or a workspace.
class Memory {
 public:
  explicit Memory(std::size_t size, std::byte fill = {})
      : size_(size), memory_(std::make_unique<std::max_align_t[]>(size / sizeof(std::max_align_t) + 1)) {
    std::ranges::fill(bytes(), fill);
  }
  std::span<std::byte> bytes() {
    return std::as_writable_bytes(std::span(memory_.get(), size_ / sizeof(std::max_align_t) + 1)).first(size_);
  }

 private:
  std::size_t size_;
  std::unique_ptr<std::max_align_t[]> memory_;
};

// Runs `use` first to count the workspace that it needs, then in a workspace of exactly that size.
template <class Use>
void in_workspace(std::byte fill, Use use) {
  format::Workspace counting;
  use(counting);
  Memory memory(counting.most(), fill);
  format::Workspace workspace(memory.bytes());
  const Measured measured(0, most_seconds);
  use(workspace);
}

// Locates, opens and checks a file.
void check(Input file, const FileKind& kind, std::byte fill, Findings& findings) {
  const auto extent = kind.locate(file.first(std::min(file.size(), format::head_bytes)), file.size(), findings);
  if (!extent) return;
  Memory tables(extent->tables_size);
  std::ranges::copy(file.first(extent->tables_size), tables.bytes().begin());
  const auto view = [&] {
    const Measured measured(0, most_seconds);
    return kind.open(tables.bytes(), file.subspan(extent->segments_begin, extent->segments_size), findings);
  }();
  if (view) in_workspace(fill, [&](auto& workspace) { kind.check(*view, {}, workspace, findings); });
}

Verdict verdict(Input file, const FileKind& kind, std::byte fill) {
  Verdict v;
  Findings findings = v.findings();
  check(file, kind, fill, findings);
  return v;
}

}  // namespace

void attack_rules(Input input) {
  const FileKind& kind = file_kind(input) == &format::data_kind ? format::data_kind : format::program_kind;
  constexpr std::byte other_fill{0xFF};
  const Verdict here = verdict(input, kind, {});
  must(here == verdict(input, kind, other_fill), "workspace",
       "the verdict depends on the initial bytes of the workspace");
  const auto faults = faults_of(borrowed(input), kind);
  const std::string first = here.told == 0 ? "valid" : std::string(here.rules[0]->id),
                    reference = faults.empty() ? "valid" : faults.front().rule;
  must(first == reference, "verdict", "the verdict is ", first, ", but the verdict of the reference is ", reference);
}

}  // namespace assay::fuzz
