#include <algorithm>
#include <array>
#include <memory>

#include "format/check.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"
#include "reference/program/program.h"

// The rules of files without the reference, as any runtime asks them: in the caller's memory, whatever it held, and
// without heap. The verdict is that of the reference.
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

// What `use` finds in a workspace of the size that it asks for.
template <class Use>
void in_workspace(std::byte fill, Use use) {
  format::Workspace counting;
  use(counting);
  Memory memory(counting.most(), fill);
  format::Workspace workspace(memory.bytes());
  const Measured measured(0, most_seconds);
  use(workspace);
}

void check(const format::ProgramView& program, format::Workspace& workspace, Findings& findings) {
  format::check(program, {}, workspace, findings);
}
using format::check;

// Locates, opens and checks.
template <class Locate, class Open>
void check_file(Input file, std::byte fill, Findings& findings, Locate locate, Open open) {
  const auto extent = locate(file.first(std::min(file.size(), format::head_bytes)), file.size(), findings);
  if (!extent) return;
  Memory tables(extent->tables_size);
  std::ranges::copy(file.first(extent->tables_size), tables.bytes().begin());
  const auto view = [&] {
    const Measured measured(0, most_seconds);
    return open(tables.bytes(), file.subspan(extent->segments_begin, extent->segments_size), findings);
  }();
  if (view) in_workspace(fill, [&](auto& workspace) { check(*view, workspace, findings); });
}

void check_program(Input file, std::byte fill, Findings& findings) {
  check_file(file, fill, findings, format::locate_program, format::open_program);
}
void check_data(Input file, std::byte fill, Findings& findings) {
  check_file(file, fill, findings, format::locate_data, format::open_data);
}

Verdict verdict(Input file, std::byte fill, void (*check)(Input, std::byte, Findings&)) {
  Verdict v;
  Findings findings = v.findings();
  check(file, fill, findings);
  return v;
}

template <class Open>
std::string first_of_reference(Input file, Open open) {
  const auto opened = open(borrowed(file));
  const auto faults = opened ? faults_of(*opened) : opened.faults;
  return faults.empty() ? "valid" : faults.front().rule;
}

template <class Open>
void compare(Input file, void (*check)(Input, std::byte, Findings&), Open open) {
  constexpr std::byte other_fill{0xFF};
  const Verdict here = verdict(file, {}, check);
  must(here == verdict(file, other_fill, check), "workspace", "the verdict depends on what the workspace held");
  const std::string first = here.told == 0 ? "valid" : std::string(here.rules[0]->id),
                    reference = first_of_reference(file, open);
  must(first == reference, "verdict", "the verdict is ", first, ", but that of the reference ", reference);
}

}  // namespace

void attack_rules(Input input) {
  if (format::file_kind(input) == format::FileKind::data)
    compare(input, check_data, open_data);
  else
    compare(input, check_program, [](File file) { return open_program(std::move(file)); });
}

}  // namespace assay::fuzz
