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

void check(const ProgramFile& program, std::span<const NamedDataFile> data, FaultList& faults) {
  const auto views = views_of(data);
  with_workspace([&](Workspace& w) { format::check(program.view(), views, w, faults.findings()); });
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
std::optional<format::NamedBytes> ValidProgram::named(std::string_view key) const { return parts_->named->find(key); }

Result<ValidProgram> validate(ProgramFile program, std::vector<NamedDataFile> data) {
  return unless_refused<ValidProgram>([&]() -> Result<ValidProgram> {
    FaultList faults;
    check(program, data, faults);
    if (!faults.none()) return refused<ValidProgram>(faults);
    return {ValidProgram(std::make_shared<const ValidProgram::Parts>(std::move(program), std::move(data))), {}};
  });
}

std::vector<Fault> faults_of(const ProgramFile& program, std::span<const NamedDataFile> data) {
  FaultList faults;
  check(program, data, faults);
  return faults.take();
}

std::vector<Fault> faults_of(const NamedDataFile& file) {
  FaultList faults;
  with_workspace([&](Workspace& w) { format::check(file.view(), w, faults.findings()); });
  return faults.take();
}

std::vector<Fault> faults_of(const BundleFile& bundle, const ValidProgram& program) {
  FaultList faults;
  with_workspace([&](Workspace& w) { format::check(bundle.view(), program->view(), w, faults.findings()); });
  return faults.take();
}

std::string operator_name(const pte::Operator& op) {
  const std::string name(format::text_of(op.name())), overload(format::text_of(op.overload()));
  return overload.empty() ? name : name + "." + overload;
}

}  // namespace assay
