#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "format/names.h"
#include "reference/program/rule.h"

// Programs to check and to run: File → ProgramFile (its structure holds) → ValidProgram (every rule holds).
namespace assay {

using Bytes = std::vector<std::byte>;
using format::file_kind;
using format::FileKind;

// The bytes of a file and what keeps them: memory, a mapping. Copies share it.
struct File {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
File in_memory(Bytes bytes);                      // owns them
File borrowed(std::span<const std::byte> bytes);  // the caller keeps them as long as anything made of them lives

// A file whose structure holds. Its tables are in memory of their own, made before they were checked, since the bytes
// of a mapped file may change; its segments are where they lie in the file. Copies share all of it.
template <class View>
class OpenFile {
 public:
  OpenFile(File file, std::shared_ptr<const void> tables, const View& view)
      : file_(std::move(file)), memory_(std::move(tables)), view_(view) {}

  const View& view() const { return view_; }
  const auto& tables() const { return *view_.tables; }
  std::span<const std::byte> segment(std::uint32_t i) const { return view_.segment(i); }

 private:
  friend File program_of(const OpenFile<format::BundleView>&);
  File file_;
  std::shared_ptr<const void> memory_;
  View view_;
};
using ProgramFile = OpenFile<format::ProgramView>;
using NamedDataFile = OpenFile<format::DataView>;
using BundleFile = OpenFile<format::BundleView>;

// The rules that spec/format/rules.yaml marks `decode`: structure, the header, the version, presence. The copy of the
// tables, and the work of checking them, are charged to the thread's budget. Faults besides: limits.memory,
// limits.work.
Result<ProgramFile> open_program(File file);
Result<NamedDataFile> open_data(File file);
Result<BundleFile> open_bundle(File file);
File program_of(const BundleFile& bundle);  // the program in it, which it keeps

// A program with its data files that keeps every rule; the later phases check none of them again.
class ValidProgram {
 public:
  const ProgramFile& operator*() const;
  const ProgramFile* operator->() const { return &**this; }
  const pte::ExecutionPlan* plan(std::string_view name) const;  // null: no such method
  std::span<const NamedDataFile> data() const;
  // Of the program's own named data or of a data file's; none: no such key.
  std::optional<format::NamedBytes> named(std::string_view key) const;

 private:
  struct Parts;
  explicit ValidProgram(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  friend Result<ValidProgram> validate(ProgramFile, std::vector<NamedDataFile>);
  std::shared_ptr<const Parts> parts_;
};

// Every rule that a program by itself keeps, those of the data files that it is to be loaded with, and those about
// both.
Result<ValidProgram> validate(ProgramFile program, std::vector<NamedDataFile> data = {});
std::vector<Fault> faults_of(const ProgramFile& program, std::span<const NamedDataFile> data = {});
std::vector<Fault> faults_of(const NamedDataFile& file);
// A bundle against the program it holds.
std::vector<Fault> faults_of(const BundleFile& bundle, const ValidProgram& program);

std::string operator_name(const pte::Operator& op);  // "aten::add.out"

}  // namespace assay
