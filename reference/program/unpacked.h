#pragma once

#include "reference/program/program.h"

// Programs as flatc's objects for those who do not read views yet. To be deleted with the last of them.
namespace assay {

namespace unpacked {
class ValidProgram {
 public:
  ValidProgram(Program program, assay::ValidProgram valid) : program_(std::move(program)), valid_(std::move(valid)) {}
  const Program& operator*() const { return program_; }
  const Program* operator->() const { return &program_; }
  const assay::ValidProgram& valid() const { return valid_; }
  const pte::ExecutionPlanT* plan(std::string_view name) const;

 private:
  Program program_;
  assay::ValidProgram valid_;
};
}  // namespace unpacked

Result<unpacked::ValidProgram> validate(Program program, std::span<const DataFile> data = {});
std::vector<Fault> faults_of(const DataFile& file);
std::vector<Fault> faults_of(const BundledProgram& bundle, const unpacked::ValidProgram& program);

inline std::uint64_t planned_offset(const pte::AllocationDetailsT& a) {
  return std::uint64_t{a.memory_offset_high} << 32 | a.memory_offset_low;
}
inline bool is_external(const pte::TensorT& t) {
  return t.extra_tensor_info && t.extra_tensor_info->location == pte::TensorDataLocation::EXTERNAL;
}
inline std::string operator_name(const pte::OperatorT& op) {
  return op.overload.empty() ? op.name : op.name + "." + op.overload;
}
bool uses_constant_buffer(const Program& program);
std::optional<std::span<const std::byte>> constant_data(const Program& program, std::uint32_t index);
std::optional<std::span<const std::byte>> initial_data(const Program& program, std::uint32_t index);
std::optional<std::span<const std::byte>> named_data(const Program& program, std::string_view key);
const ptd::NamedDataT* find_named(const DataFile& file, std::string_view key);

}  // namespace assay
