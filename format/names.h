#pragma once

#include <compare>
#include <optional>
#include <string_view>

#include "format/view.h"
#include "format/workspace.h"

// Classes that find methods and named data by name. Each lookup takes logarithmic time, whatever the names are.
// Requires that the workspace's memory and the views outlive the objects of these classes. If the workspace has too
// little memory, every lookup finds nothing.
namespace assay::format {

class Methods {
 public:
  Methods(const ProgramView& program, Workspace& workspace);
  const pte::ExecutionPlan* find(std::string_view name) const;  // null if there is no such method

  // The indices of the plans, sorted by the names of their methods. Rule G2 requires unique names.
  std::span<const std::uint32_t> sorted() const { return order_; }
  std::string_view name(std::uint32_t plan) const { return text_of(program_.execution_plan()->Get(plan)->name()); }

 private:
  const pte::Program& program_;
  std::span<std::uint32_t> order_;
};

struct NamedBytes {
  std::span<const std::byte> bytes;
  const ptd::TensorLayout* layout;  // null if the file states no layout
};

// The named data of a program and of the data files that it is loaded with. If `program` is null, the object has only
// the named data of the data files.
class NamedData {
 public:
  NamedData(const ProgramView* program, std::span<const DataView> data, Workspace& workspace);
  // Returns nothing if no named data have this key, or if the segment of the named data does not exist.
  std::optional<NamedBytes> find(std::string_view key) const;

  struct Entry {
    std::uint32_t file;  // 0 for the program, i + 1 for data file i
    std::uint32_t index;
    auto operator<=>(const Entry&) const = default;
  };
  // All entries, sorted by key. Rules F8 and G12 require unique keys.
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
