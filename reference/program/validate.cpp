#include "format/check.h"
#include "reference/program/memory.h"
#include "reference/program/program.h"

namespace assay {
namespace {

using format::Workspace;

std::vector<format::DataView> views_of(std::span<const NamedDataFile> files) {
  std::vector<format::DataView> views;
  for (const NamedDataFile& file : files) views.push_back(file.view());
  return views;
}

// The faults that `check` finds in a workspace of the size that it needs.
template <class Check>
std::vector<Fault> found(Check check) {
  FaultList faults;
  with_workspace([&](Workspace& w) { check(w, faults.findings()); });
  return faults.take();
}

// The faults of all parts of the file; if there are none, the faults of the file.
std::vector<Fault> checked(const AnyFile& file, const FileKind& kind, std::span<const format::DataView> data) {
  std::vector<Fault> faults;
  std::optional<AnyFile> part;
  std::optional<format::ProgramView> program;
  kind.parts(file.view(), nullptr, [&](const format::Nested& nested) {
    auto opened = open_as(file.within(nested.bytes), *nested.kind);
    std::vector<Fault> found = opened ? checked(*opened, *nested.kind, data) : std::move(opened.faults);
    if (found.empty() && nested.kind == &format::program_kind)
      part = std::move(opened.value), program.emplace(part->view());
    std::ranges::move(found, std::back_inserter(faults));
  });
  return faults.empty() ? faults_of(file, kind, {data, program ? &*program : nullptr}) : faults;
}

}  // namespace

struct ValidProgram::Parts {
  Parts(ProgramFile p, std::vector<NamedDataFile> d)
      : program(std::move(p)), data(std::move(d)), views(views_of(data)) {}

  ProgramFile program;
  std::vector<NamedDataFile> data;
  std::vector<format::DataView> views;
  std::optional<format::Methods> methods;
  std::optional<format::NamedData> named;
  AlignedMemory memory = with_workspace([this](Workspace& w) {
    methods.emplace(program.view(), w);
    named.emplace(&program.view(), views, w);
  });
};

const ProgramFile& ValidProgram::operator*() const { return parts_->program; }
const pte::ExecutionPlan* ValidProgram::plan(std::string_view name) const { return parts_->methods->find(name); }
std::span<const NamedDataFile> ValidProgram::data() const { return parts_->data; }
const format::NamedData& ValidProgram::named_data() const { return *parts_->named; }

Result<ValidProgram> validate(ProgramFile program, std::vector<NamedDataFile> data) {
  return unless_refused<ValidProgram>([&]() -> Result<ValidProgram> {
    FaultList faults;
    const auto views = views_of(data);
    with_workspace([&](Workspace& w) { format::check(program.view(), views, w, faults.findings()); });
    if (!faults.none()) return refused<ValidProgram>(faults);
    return {ValidProgram(std::make_shared<const ValidProgram::Parts>(std::move(program), std::move(data))), {}};
  });
}

std::vector<Fault> faults_of(const ProgramFile& program, std::span<const NamedDataFile> data) {
  const auto views = views_of(data);
  return found([&](Workspace& w, format::Findings& f) { format::check(program.view(), views, w, f); });
}

std::vector<Fault> faults_of(const NamedDataFile& file) {
  return found([&](Workspace& w, format::Findings& f) { format::check(file.view(), w, f); });
}

std::vector<Fault> faults_of(const BundleFile& bundle, const ValidProgram& program) {
  return found([&](Workspace& w, format::Findings& f) { format::check(bundle.view(), program->view(), w, f); });
}

std::vector<Fault> faults_of(const AnyFile& file, const FileKind& kind, const format::Related& related) {
  return found([&](Workspace& w, format::Findings& f) { kind.check(file.view(), related, w, f); });
}

std::vector<Fault> faults_of(File file, const FileKind& kind, std::span<const File> data) {
  std::vector<NamedDataFile> data_files;
  const auto opened = open_as(std::move(file), kind);
  if (!opened) return opened.faults;
  for (const File& one : data) {
    auto data_file = open_data(one);
    if (!data_file) return data_file.faults;
    data_files.push_back(std::move(*data_file));
  }
  const auto views = views_of(data_files);
  return checked(*opened, kind, views);
}

Fault no_method(std::string_view name, std::span<const std::string_view> methods) {
  format::Text sentence;
  sentence.add("there is no method ").add(format::Quoted{name}).add("; the methods are ");
  for (std::size_t i = 0; i < methods.size(); ++i) sentence.add(i == 0 ? "" : ", ").add(format::Quoted{methods[i]});
  return broken("G3", {}, sentence.view());
}

Fault no_method(std::string_view name, const pte::Program& program) {
  Buffer<std::string_view> methods;
  for (const pte::ExecutionPlan* plan : *program.execution_plan()) methods.push_back(format::text_of(plan->name()));
  return no_method(name, methods);
}

std::string operator_name(const pte::Operator& op) {
  const std::string name(format::text_of(op.name())), overload(format::text_of(op.overload()));
  return overload.empty() ? name : name + "." + overload;
}

}  // namespace assay
