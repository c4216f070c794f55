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

// A program with its data files. All rules were checked. The files are where the client has them, at a multiple of 16,
// and must not change while the program is used.
class Program {
 public:
  using Bytes = std::span<const std::byte>;

  // `views` is memory for one view of each data file; it is kept with the program. Checking takes memory from the
  // workspace. With a counting workspace only the structure of the files is checked, and the workspace counts the
  // memory that all checks need. None: the fault tells which rule is broken, or which memory is too small.
  static std::optional<Program> open(Bytes file, std::span<const Bytes> data, std::span<format::DataView> views,
                                     format::Workspace& workspace, Fault& fault);

  const format::ProgramView& view() const { return view_; }
  std::span<const format::DataView> data() const { return data_; }
  std::uint32_t methods() const { return view_.tables->execution_plan()->size(); }
  const pte::ExecutionPlan* method(std::string_view name) const;  // null: there is none

 private:
  Program(const format::ProgramView& view, std::span<const format::DataView> data) : view_(view), data_(data) {}
  format::ProgramView view_;
  std::span<const format::DataView> data_;
};

}  // namespace assay::optimized
