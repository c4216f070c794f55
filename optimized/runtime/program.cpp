#include "optimized/runtime/program.h"

#include <algorithm>

namespace assay::optimized {
namespace {

using Bytes = Program::Bytes;

// Locates the tables of a file and opens them.
template <class Locate, class Open>
auto opened(Bytes file, Locate locate, Open open, format::Findings& findings) {
  using View = decltype(open(file, file, findings));
  const auto extent = locate(file.first(std::min(file.size(), format::head_bytes)), file.size(), findings);
  if (!extent) return View();
  return open(
      file.first(static_cast<std::size_t>(extent->tables_size)),
      file.subspan(static_cast<std::size_t>(extent->segments_begin), static_cast<std::size_t>(extent->segments_size)),
      findings);
}

}  // namespace

std::optional<Program> Program::open(Bytes file, std::span<const Bytes> data, std::span<format::DataView> views,
                                     format::Workspace& workspace, Fault& fault) {
  format::Findings findings = first_finding(fault);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto view = opened(data[i], format::locate_data, format::open_data, findings);
    if (!view) return {};
    views[i] = *view;
  }
  const auto view = opened(file, format::locate_program, format::open_program, findings);
  if (!view) return {};
  const Program program(*view, views.first(data.size()));
  format::check(program.view(), program.data(), workspace, findings);
  return findings.none() ? std::optional(program) : std::nullopt;
}

const pte::ExecutionPlan* Program::method(std::string_view name) const {
  for (std::uint32_t i = 0; i < methods(); ++i) {
    const pte::ExecutionPlan* plan = view_.tables->execution_plan()->Get(i);
    if (format::text_of(plan->name()) == name) return plan;
  }
  return nullptr;
}

}  // namespace assay::optimized
