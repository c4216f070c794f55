#include "conformance/testees/load.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "conformance/testees/c_library.h"
#include "conformance/testees/installed.h"
#include "conformance/testees/optimized/client.h"
#include "conformance/testees/optimized/library.h"
#include "conformance/testees/optimized/runtime.h"
#include "conformance/testees/reference_library.h"
#include "conformance/testees/wire/remote.h"
#include "reference/fault.h"

namespace assay {
namespace {

// Names that mean something, whether or not there is a testee behind them yet.
constexpr std::array later{"executorch+xnnpack"};
constexpr std::string_view registered = "executorch:";  // kernels of the library at the path behind it

// Where the module of a testee is: libassay_<name>.so in `folder`, or the path that its name is.
std::filesystem::path module_of(std::string_view testee, const std::filesystem::path& folder) {
  const auto is_kind = [&](std::string_view kind) { return testee.starts_with(kind); };
  if (std::ranges::find(later, testee) != later.end())
    throw Fault(Outcome::unsupported, "testee", text("the testee ", testee, " does not exist yet"));
  if (testee == "executorch") return folder / "libassay_executorch.so";
  if (is_kind(registered)) return folder / "libassay_executorch_registry.so";
  if (testee.find('/') != std::string_view::npos) return testee;
  throw Fault(Outcome::invalid, "testee",
              text("there is no testee \"", testee, "\": known are reference, optimized, recorded, executorch, torch, ",
                   "executorch:./lib.so, ./lib.so, python:MODULE, tcp:HOST:PORT, serial:DEVICE and -- CMD"));
}

// What the testee's module, loaded with these flags of dlopen, exports as `symbol`, or null.
void* find_exported(std::string_view testee, const std::filesystem::path& folder, const char* symbol,
                    int flags = RTLD_NOW | RTLD_LOCAL) {
  const auto fail = [&](const auto&... sentence) { throw Fault(Outcome::invalid, "testee", text(sentence...)); };
  const std::filesystem::path path = module_of(testee, folder);
  if (!std::filesystem::exists(path))
    fail("the testee ", testee, " needs ", path.string(), ", which is missing",
         testee.starts_with("executorch") ? ": tools/conform fetches and builds it" : "");
  // Never closed: kernels stay registered for the life of the process.
  void* module = dlopen(path.c_str(), flags);
  if (!module) fail("the testee ", testee, " cannot be loaded: ", dlerror());
  return dlsym(module, symbol);
}

// What a module names is its own first, then the process's, and nobody else's. Sanitizers do not allow it.
constexpr int own_names = RTLD_NOW | RTLD_LOCAL | (ASSAY_WATCHED_HEAP ? RTLD_DEEPBIND : 0);

template <class Make>
Make exported(std::string_view testee, const std::filesystem::path& folder, const char* symbol,
              int flags = RTLD_NOW | RTLD_LOCAL) {
  if (void* found = find_exported(testee, folder, symbol, flags)) return reinterpret_cast<Make>(found);
  throw Fault(Outcome::invalid, "testee", text(testee, " is no testee for this command: it does not export ", symbol));
}

// Kernels register when their library is loaded, behind the module that has the registry.
std::unique_ptr<KernelLibrary> load_registered(std::string_view name, const std::filesystem::path& folder) {
  const auto make = exported<MakeRegistered>(name, folder, "assay_registered_kernels");
  const std::filesystem::path file = name.substr(registered.size());
  if (!std::filesystem::exists(file))
    throw Fault(Outcome::invalid, "testee", text("the testee ", name, " needs ", file.string(), ", which is missing"));
  if (!dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL))
    throw Fault(Outcome::invalid, "testee", text("the testee ", name, " cannot be loaded: ", dlerror()));
  auto library = std::unique_ptr<KernelLibrary>(make(std::string(name).c_str(), file.filename().c_str()));
  if (library->kernels().empty())
    throw Fault(Outcome::invalid, "testee",
                text(file.string(), " registers no kernels with the ExecuTorch that assay was built with"));
  return library;
}

std::optional<wire::Address> remote(std::string_view testee) {
  return wire::address_of(testee, find_folder("conformance/python"));
}

}  // namespace

std::unique_ptr<KernelLibrary> load_library(std::string_view name, const std::filesystem::path& folder) {
  if (name == "reference") return std::make_unique<ReferenceLibrary>();
  if (const auto testee = optimized_for(name))
    return std::make_unique<OptimizedLibrary>(OptimizedLibrary::Operands::constant, true, *testee);
  if (name == "executorch")
    return std::unique_ptr<KernelLibrary>(exported<MakeKernelLibrary>(name, folder, "assay_kernel_library")());
  if (name.starts_with(registered)) return load_registered(name, folder);
  if (const auto address = remote(name)) return wire::make_remote_library(*address);
  const auto table = exported<decltype(&assay_kernel_library_v1)>(name, folder, "assay_kernel_library_v1");
  return make_c_library(table(), std::filesystem::path(name).filename());
}

std::unique_ptr<Runtime> load_runtime(std::string_view name, const std::filesystem::path& folder) {
  if (const auto testee = optimized_for(name)) return make_optimized_runtime(*testee);
  if (const auto address = remote(name)) return wire::make_remote_runtime(*address);
  void* make = find_exported(name, folder, "assay_runtime");
  return std::unique_ptr<Runtime>(make ? reinterpret_cast<MakeRuntime>(make)() : nullptr);
}

std::unique_ptr<Engine> load_engine(std::string_view name, const std::filesystem::path& folder) {
  return std::unique_ptr<Engine>(exported<MakeEngine>(name, folder, "assay_engine", own_names)());
}

}  // namespace assay
