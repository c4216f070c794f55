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

// A program with its data files, all of whose rules were checked, where the client has their bytes. These begin at a
// multiple of 16, and nobody changes them while the program is used.
class Program {
 public:
  using Bytes = std::span<const std::byte>;

  // `views` is memory for as many data files as there are, kept with the program. Checking takes memory from the
  // workspace; one that only counts says how much: then the files' structure is looked at, and nothing else.
  // None: the fault says which rule is broken, or which memory is too small.
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
