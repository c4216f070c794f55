#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "format/kind.h"
#include "format/names.h"
#include "reference/program/rule.h"

// Files of every kind, and valid programs. A File is bytes, a ProgramFile has a valid structure, and a ValidProgram
// meets every rule.
namespace assay {

using Bytes = std::vector<std::byte>;
using format::file_kind;
using format::FileKind;  // a kind of file: a row of the table in format/kinds.cpp

// The bytes of a file and their owner, which is memory or a mapping. Copies share the owner.
struct File {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
File in_memory(Bytes bytes);  // makes a file that owns the bytes
// Makes a file that does not own its bytes. Requires that the bytes outlive all objects made from the file.
File borrowed(std::span<const std::byte> bytes);

// A file with a valid structure. Its tables are a copy that was made before they were checked, because the bytes of a
// mapped file may change. Its segments lie in the file. Copies of the object share the file and the tables.
template <class View>
class OpenFile {
 public:
  OpenFile(File file, std::shared_ptr<const void> tables, const View& view)
      : file_(std::move(file)), memory_(std::move(tables)), view_(view) {}

  const View& view() const { return view_; }
  const auto& tables() const { return *view_.tables; }
  std::span<const std::byte> segment(std::uint32_t i) const { return view_.segment(i); }
  // Makes a file from bytes inside this file. The new file keeps this file alive.
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

// Each function checks the rules that spec/format/rules.yaml marks `decode`: structure, header, version, presence. The
// copy of the tables and the work of checking them are charged to the budget of the thread's scope. If this budget is
// used up, the fault has the rule limits.memory or limits.work.
Result<ProgramFile> open_program(File file);
Result<NamedDataFile> open_data(File file);
Result<BundleFile> open_bundle(File file);
Result<AnyFile> open_as(File file, const FileKind& kind);
inline File program_of(const BundleFile& bundle) { return bundle.within(program_in(bundle.view())); }

// A program that, with its data files, meets every rule. Later phases check no rule a second time.
class ValidProgram {
 public:
  const ProgramFile& operator*() const;
  const ProgramFile* operator->() const { return &**this; }
  const pte::ExecutionPlan* plan(std::string_view name) const;  // null if there is no such method
  std::span<const NamedDataFile> data() const;
  // The named data with this key in the program or a data file. Returns nothing if there is no such key.
  std::optional<format::NamedBytes> named(std::string_view key) const { return named_data().find(key); }
  const format::NamedData& named_data() const;

 private:
  struct Parts;
  explicit ValidProgram(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  friend Result<ValidProgram> validate(ProgramFile, std::vector<NamedDataFile>);
  std::shared_ptr<const Parts> parts_;
};

// Checks the rules of the program, the rules of the data files that it is loaded with, and the rules that concern both.
Result<ValidProgram> validate(ProgramFile program, std::vector<NamedDataFile> data = {});

// The faults of a file whose structure is valid.
std::vector<Fault> faults_of(const ProgramFile& program, std::span<const NamedDataFile> data = {});
std::vector<Fault> faults_of(const NamedDataFile& file);
std::vector<Fault> faults_of(const BundleFile& bundle,
                             const ValidProgram& program);  // `program` must be the program in the bundle
std::vector<Fault> faults_of(const AnyFile& file, const FileKind& kind, const format::Related& related);
// The faults of a file of this kind. `data` are the data files of a program. The check has three stages: (1) the
// structure of the file and then of each data file, (2) the parts of the file, such as the program in a bundle, (3) the
// file itself. Returns the faults of the first file or stage that has faults, and checks nothing after it.
std::vector<Fault> faults_of(File file, const FileKind& kind, std::span<const File> data = {});

std::string operator_name(const pte::Operator& op);  // the full name, such as "aten::add.out"

// The fault G3: a program with these methods, or this program, has no method of this name. The sentence lists the names
// of the methods as far as it has room.
Fault no_method(std::string_view name, std::span<const std::string_view> methods);
Fault no_method(std::string_view name, const pte::Program& program);

}  // namespace assay
