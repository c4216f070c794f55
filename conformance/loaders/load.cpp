#include <dlfcn.h>

#include "conformance/loaders/loader.h"
#include "conformance/testee/no_testee.h"
#include "reference/fault.h"

namespace assay::loaders {
namespace {

// The table that a module exports for the variant. The module is never closed.
const assay_loader* table_in(const std::filesystem::path& module, const std::string& variant, std::string_view testee) {
  if (!std::filesystem::exists(module))
    testee::no_testee("the testee ", testee, " needs ", module.string(), ", which is missing");
  void* const opened = dlopen(std::filesystem::absolute(module).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) testee::no_testee("the testee ", testee, " cannot be loaded: ", dlerror());
  void* const made = dlsym(opened, "assay_loader_v1");
  if (!made) testee::no_testee(testee, " is no loader: it does not export assay_loader_v1");
  const assay_loader* table = reinterpret_cast<decltype(&assay_loader_v1)>(made)(variant.c_str());
  if (!table) testee::no_testee(testee, " has no variant \"", variant, '"');
  return table;
}

}  // namespace

std::unique_ptr<Loader> load_loader(std::string_view testee, const std::filesystem::path& folder,
                                    const LoaderSettings& settings) {
  if (testee == "reference") return make_reference_loader(settings);
  if (testee == "optimized") return make_optimized_loader(settings);
  const std::size_t colon = testee.rfind(':');
  const std::string name(testee.substr(0, colon)),
      variant(colon == testee.npos ? std::string_view() : testee.substr(colon + 1));
  const bool has_xnnpack = testee == "executorch+xnnpack", is_official = name == "executorch" || has_xnnpack;
  const std::filesystem::path module = is_official ? folder / "libassay_executorch.so" : std::filesystem::path(name);
  std::vector<std::string> binaries{module.filename()};
  if (is_official) binaries.emplace_back("libexecutorch.so");
  if (has_xnnpack) binaries.emplace_back("libexecutorch_backend_xnnpack.so");
  if (is_official || name.find('/') != name.npos)
    return make_c_loader(table_in(module, has_xnnpack ? "xnnpack" : variant, testee), std::move(binaries), settings);
  testee::no_testee("there is no loader \"", testee,
                    "\": known are reference, optimized, executorch, executorch:minimal, executorch+xnnpack, "
                    "./lib.so and -- CMD {}");
}

}  // namespace assay::loaders
