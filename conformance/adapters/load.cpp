#include "conformance/adapters/load.h"

#include <dlfcn.h>

#include "conformance/adapters/c_library.h"
#include "conformance/adapters/installed.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/adapters/optimized/library.h"
#include "conformance/adapters/optimized/runtime.h"
#include "conformance/adapters/reference_library.h"
#include "conformance/adapters/registered.h"
#include "conformance/testee/binaries.h"
#include "conformance/testee/no_testee.h"
#include "conformance/wire/remote.h"
#include "reference/fault.h"

namespace assay {
namespace {

constexpr std::string_view official = "executorch", with_xnnpack = "executorch+xnnpack";  // of one module
constexpr std::string_view registered = "executorch:";  // kernels of the library at the path behind it

// Where the module of a testee is: libassay_<name>.so in `folder`, or the path that its name is.
std::filesystem::path module_of(std::string_view testee, const std::filesystem::path& folder) {
  if (testee == official || testee == with_xnnpack) return folder / "libassay_executorch.so";
  if (testee.find('/') != std::string_view::npos) return testee;
  no_testee("there is no testee \"", testee,
            "\": known are reference, optimized, recorded, executorch, executorch+xnnpack, torch, ",
            "executorch:./lib.so, ./lib.so, python:MODULE, tcp:HOST:PORT, serial:DEVICE and -- CMD");
}

// What the testee's module, loaded with these flags of dlopen, exports as `symbol`, or null.
void* find_exported(std::string_view testee, const std::filesystem::path& folder, const char* symbol,
                    int flags = RTLD_NOW | RTLD_LOCAL) {
  const std::filesystem::path path = module_of(testee, folder);
  if (!std::filesystem::exists(path))
    no_testee("the testee ", testee, " needs ", path.string(), ", which is missing",
              testee.starts_with(official)
                  ? ": tools/conform builds it, in a checkout; elsewhere name a library of kernels, "
                    "executorch:./lib.so"
                  : "");
  // Never closed: kernels stay registered for the life of the process.
  void* module = dlopen(path.c_str(), flags);
  if (!module) no_testee("the testee ", testee, " cannot be loaded: ", dlerror());
  return dlsym(module, symbol);
}

// What a module names is its own first, then the process's, and nobody else's. Sanitizers do not allow it.
constexpr int own_names = RTLD_NOW | RTLD_LOCAL | (ASSAY_WATCHED_HEAP ? RTLD_DEEPBIND : 0);

template <class Make>
Make exported(std::string_view testee, const std::filesystem::path& folder, const char* symbol,
              int flags = RTLD_NOW | RTLD_LOCAL) {
  if (void* found = find_exported(testee, folder, symbol, flags)) return reinterpret_cast<Make>(found);
  no_testee(testee, " is no testee for this command: it does not export ", symbol);
}

const assay_kernel_library* table_of(std::string_view testee, const std::filesystem::path& folder) {
  return exported<decltype(&assay_kernel_library_v1)>(testee, folder, "assay_kernel_library_v1")();
}

std::optional<wire::Address> remote(std::string_view testee) {
  return wire::address_of(testee, find_folder("conformance/wire/python"));
}

}  // namespace

std::unique_ptr<KernelLibrary> load_library(std::string_view name, const std::filesystem::path& folder) {
  if (name == "reference") return std::make_unique<ReferenceLibrary>();
  if (const auto testee = optimized_for(name))
    return std::make_unique<OptimizedLibrary>(OptimizedLibrary::Operands::constant, true, *testee);
  if (name == with_xnnpack)
    throw Fault(Outcome::unsupported, "testee", text(name, " runs programs alone: assay runtime judges it"));
  if (name == official) {
    const assay_kernel_library* table = table_of(name, folder);
    return make_c_library(table, loaded_binaries("libexecutorch"));
  }
  if (name.starts_with(registered)) return load_registered(std::string(name), name.substr(registered.size()));
  if (const auto address = remote(name)) return wire::make_remote_library(*address);
  return make_c_library(table_of(name, folder), {std::filesystem::path(name).filename()});
}

std::unique_ptr<Runtime> load_runtime(std::string_view name, const std::filesystem::path& folder) {
  if (const auto testee = optimized_for(name)) return make_optimized_runtime(*testee);
  if (const auto address = remote(name)) return wire::make_remote_runtime(*address);
  if (name.starts_with(registered)) return nullptr;
  void* make = find_exported(name, folder, name == with_xnnpack ? "assay_runtime_xnnpack" : "assay_runtime");
  return std::unique_ptr<Runtime>(make ? reinterpret_cast<MakeRuntime>(make)() : nullptr);
}

std::unique_ptr<Engine> load_engine(std::string_view name, const std::filesystem::path& folder) {
  return std::unique_ptr<Engine>(exported<MakeEngine>(name, folder, "assay_engine", own_names)());
}

}  // namespace assay
