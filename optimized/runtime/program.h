#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "format/check.h"
#include "format/names.h"
#include "optimized/runtime/fault.h"

namespace assay::optimized {

// A program with its data files. It meets all rules. Requires that the files are aligned to 16 bytes in the client's
// memory and do not change while the program is used.
class Program {
 public:
  using Bytes = std::span<const std::byte>;

  // Opens a program. `views` must have room for one view of each data file and must stay valid as long as the program.
  // The checks take memory from the workspace. With a workspace that only counts, only the structure of the files is
  // checked, and the workspace counts the memory that all checks need. Returns nothing if a rule is broken or a memory
  // is too small; the fault names it.
  static std::optional<Program> open(Bytes file, std::span<const Bytes> data, std::span<format::DataView> views,
                                     format::Workspace& workspace, Fault& fault);

  const format::ProgramView& view() const { return view_; }
  std::span<const format::DataView> data() const { return data_; }
  std::uint32_t methods() const { return view_.tables->execution_plan()->size(); }
  const pte::ExecutionPlan* method(std::string_view name) const;  // null if there is no such method

 private:
  Program(const format::ProgramView& view, std::span<const format::DataView> data) : view_(view), data_(data) {}
  format::ProgramView view_;
  std::span<const format::DataView> data_;
};

}  // namespace assay::optimized
