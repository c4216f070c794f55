#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "format/kind.h"
#include "format/names.h"
#include "reference/program/rule.h"

// Files of every kind, and programs to check and to run: File → ProgramFile (its structure holds) → ValidProgram (every
// rule holds).
namespace assay {

using Bytes = std::vector<std::byte>;
using format::file_kind;
using format::FileKind;  // a row of the table in format/kinds.cpp

// The bytes of a file and their owner: memory or a mapping. Copies share the owner.
struct File {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
File in_memory(Bytes bytes);                      // owns the bytes
File borrowed(std::span<const std::byte> bytes);  // the bytes outlive everything that is made of the file

// A file whose structure holds. Its tables are in memory of their own, copied before they were checked, since the bytes
// of a mapped file may change; its segments are where they lie in the file. Copies share both.
template <class View>
class OpenFile {
 public:
  OpenFile(File file, std::shared_ptr<const void> tables, const View& view)
      : file_(std::move(file)), memory_(std::move(tables)), view_(view) {}

  const View& view() const { return view_; }
  const auto& tables() const { return *view_.tables; }
  std::span<const std::byte> segment(std::uint32_t i) const { return view_.segment(i); }
  // Bytes inside this file as a file that keeps it alive.
  File within(std::span<const std::byte> bytes) const { return {bytes, std::make_shared<const OpenFile>(*this)}; }

 private:
  File file_;
  std::shared_ptr<const void> memory_;
  View view_;
};
using ProgramFile = OpenFile<format::ProgramView>;
using NamedDataFile = OpenFile<format::DataView>;
using BundleFile = OpenFile<format::BundleView>;
using AnyFile = OpenFile<format::AnyView>;

// Check the rules that spec/format/rules.yaml marks `decode`: structure, header, version, presence. The copy of the
// tables and the work of checking them are charged to the thread's budget. Further faults: limits.memory, limits.work.
Result<ProgramFile> open_program(File file);
Result<NamedDataFile> open_data(File file);
Result<BundleFile> open_bundle(File file);
Result<AnyFile> open_as(File file, const FileKind& kind);
inline File program_of(const BundleFile& bundle) { return bundle.within(program_in(bundle.view())); }

// A program with its data files that keeps every rule. Later phases check no rule a second time.
class ValidProgram {
 public:
  const ProgramFile& operator*() const;
  const ProgramFile* operator->() const { return &**this; }
  const pte::ExecutionPlan* plan(std::string_view name) const;  // null: no such method
  std::span<const NamedDataFile> data() const;
  // Named data of the program or of a data file; none: no such key.
  std::optional<format::NamedBytes> named(std::string_view key) const { return named_data().find(key); }
  const format::NamedData& named_data() const;

 private:
  struct Parts;
  explicit ValidProgram(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  friend Result<ValidProgram> validate(ProgramFile, std::vector<NamedDataFile>);
  std::shared_ptr<const Parts> parts_;
};

// Checks the rules of the program, of the data files that it is loaded with, and of both together.
Result<ValidProgram> validate(ProgramFile program, std::vector<NamedDataFile> data = {});

// The faults of a file that opens.
std::vector<Fault> faults_of(const ProgramFile& program, std::span<const NamedDataFile> data = {});
std::vector<Fault> faults_of(const NamedDataFile& file);
std::vector<Fault> faults_of(const BundleFile& bundle, const ValidProgram& program);  // the program in the bundle
std::vector<Fault> faults_of(const AnyFile& file, const FileKind& kind, const format::Related& related);
// The faults of a file of this kind, a program with its data files: faults of the structure of these files; if there
// are none, faults of a part of the file; if there are none, faults of the file itself.
std::vector<Fault> faults_of(File file, const FileKind& kind, std::span<const File> data = {});

std::string operator_name(const pte::Operator& op);  // "aten::add.out"

}  // namespace assay
