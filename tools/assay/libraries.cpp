#include "tools/assay/libraries.h"

#include "conformance/contract/read_contract.h"
#include "conformance/programs/reference_runtime.h"
#include "conformance/testees/installed.h"
#include "conformance/testees/load.h"
#include "conformance/testees/recorded_eager.h"
#include "reference/fault.h"

namespace assay {

std::filesystem::path executable_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

std::filesystem::path golden_folder(const std::string& given) {
  if (!given.empty()) return given;
  if (const std::filesystem::path folder = folder_above("golden/operators"); !folder.empty()) return folder;
  throw Fault(Outcome::malformed, "calls.folder",
              "there is no folder golden/operators above the executable or here: name it with --golden");
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
  return name == "reference" ? make_reference_runtime() : load_runtime(name, executable_folder());
}

Contract open_contract(const std::string& asked_for, const std::string& library) {
  return asked_for.empty() ? contract_of(library) : read_contract(asked_for);
}

}  // namespace assay
