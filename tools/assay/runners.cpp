#include "tools/assay/runners.h"

#include <sys/mman.h>
#include <unistd.h>

#include "conformance/contract/read_contract.h"
#include "conformance/programs/testee_host.h"
#include "tools/assay/libraries.h"

namespace assay {

FileInMemory::FileInMemory(const File& file) : descriptor_(memfd_create("program", MFD_CLOEXEC)) {
  try {
    write_file(path(), file.bytes);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

FileInMemory::~FileInMemory() { close(descriptor_); }

std::filesystem::path FileInMemory::path() const { return text("/proc/self/fd/", descriptor_); }

Runners::Runners(const std::string& testee, const std::string& golden, const Patience& patience)
    : testee_(testee), patience_(patience) {
  if (testee == "reference") return;
  if (testee != "recorded") runtime_ = open_runtime(testee);
  if (runtime_) return;
  open_ = open_library(testee, golden);
  children_.emplace(*open_.library, patience_);
}

std::unique_ptr<ProgramRunner> Runners::begin(const ProgramFiles& program, const RuntimeOptions& options,
                                              Listener* listener) {
  if (runtime_)
    return std::make_unique<TesteeHost>(
        program.program, options.budget, *runtime_,
        LoadSettings{program.file, program.data, options.share_arenas, program.packed_cache}, patience_);
  if (children_) return std::make_unique<LibraryHost>(program.program, options, listener, *children_, substituted_);
  return std::make_unique<Host>(program.program, options, listener);
}

std::unique_ptr<ProgramRunner> Runners::begin_judge(const ProgramFiles& program, const RuntimeOptions& options) {
  const ArithmeticMode arithmetic = contract_of(testee_).arithmetic;
  return std::make_unique<JudgedHost>(program.program, options, *children_, arithmetic, wrong_);
}

}  // namespace assay
