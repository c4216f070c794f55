#pragma once

#include <compare>
#include <optional>
#include <string_view>

#include "format/view.h"
#include "format/workspace.h"

// Indices by name, with lookups in logarithmic time for any names. The memory of the workspace and the views outlive
// these objects. If the workspace has too little memory, nothing is found.
namespace assay::format {

class Methods {
 public:
  Methods(const ProgramView& program, Workspace& workspace);
  const pte::ExecutionPlan* find(std::string_view name) const;  // null: no such method

  // Sorted by name; rule G2 requires that names are unique.
  std::span<const std::uint32_t> sorted() const { return order_; }
  std::string_view name(std::uint32_t plan) const { return text_of(program_.execution_plan()->Get(plan)->name()); }

 private:
  const pte::Program& program_;
  std::span<std::uint32_t> order_;
};

struct NamedBytes {
  std::span<const std::byte> bytes;
  const ptd::TensorLayout* layout;  // null: the file states none
};

// The named data of a program and of the data files that it is loaded with, or of data files alone.
class NamedData {
 public:
  NamedData(const ProgramView* program, std::span<const DataView> data, Workspace& workspace);
  std::optional<NamedBytes> find(std::string_view key) const;  // none: no such key, or its segment does not exist

  struct Entry {
    std::uint32_t file;  // 0: the program; i + 1: data file i
    std::uint32_t index;
    auto operator<=>(const Entry&) const = default;
  };
  // Sorted by key; rules F8 and G12 require that keys are unique.
  std::span<const Entry> sorted() const { return order_; }
  std::string_view key(const Entry& entry) const;

 private:
  const ptd::NamedData& in_data(const Entry& e) const { return *data_[e.file - 1].tables->named_data()->Get(e.index); }
  const pte::NamedData& in_program(const Entry& e) const { return *program_->tables->named_data()->Get(e.index); }

  const ProgramView* program_;
  std::span<const DataView> data_;
  std::span<Entry> order_;
};

}  // namespace assay::format
