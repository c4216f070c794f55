#include "command/libraries.h"

#include "conformance/adapters/installed.h"
#include "conformance/adapters/load.h"
#include "conformance/cases/recorded_eager.h"
#include "conformance/contract/read_contract.h"
#include "conformance/hosts/reference_runtime.h"
#include "conformance/hosts/runner_runtime.h"
#include "conformance/scenarios/results.h"
#include "conformance/testee/no_testee.h"
#include "reference/fault.h"

namespace assay {

std::filesystem::path executable_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

std::filesystem::path golden_folder(const std::string& given) {
  return given.empty() ? folder_of("golden/operators", "calls.folder") : std::filesystem::path(given);
}

std::filesystem::path programs_beside(const std::filesystem::path& golden) {
  std::filesystem::path folder = golden / ".." / "programs";
  if (std::filesystem::is_directory(folder)) return folder.lexically_normal();
  throw Fault(Outcome::malformed, "calls.folder",
              text("there is no folder of recorded programs beside ", golden.string()));
}

std::unique_ptr<KernelLibrary> open_library(const std::string& name, const Corpus& corpus) {
  if (name == "recorded") return std::make_unique<RecordedEager>(corpus);
  return load_library(name, executable_folder());
}

OpenLibrary open_library(const std::string& name, const std::string& golden) {
  if (name != "recorded") return {nullptr, load_library(name, executable_folder())};
  auto corpus = std::make_unique<Corpus>(golden_folder(golden));
  auto library = open_library(name, *corpus);
  return {std::move(corpus), std::move(library)};
}

std::unique_ptr<Runtime> open_runtime(const std::string& name) {
  constexpr std::string_view runner = "runner:", results = "results:";
  if (name.starts_with(results)) return make_results(std::string_view(name).substr(results.size()));
  if (name.starts_with(runner)) return make_runner_runtime(std::string_view(name).substr(runner.size()));
  return name == "reference" ? make_reference_runtime() : load_runtime(name, executable_folder());
}

std::unique_ptr<Runtime> open_program_runner(const std::string& name) {
  if (auto runtime = open_runtime(name)) return runtime;
  no_testee(name, " runs no programs: assay kernels judges what it has");
}

Contract open_contract(const std::string& asked_for, const std::string& library) {
  return asked_for.empty() ? contract_of(library) : read_contract(asked_for);
}

}  // namespace assay
