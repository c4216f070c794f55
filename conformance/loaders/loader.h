#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/api/loader.h"
#include "conformance/corrupt/cases.h"

namespace assay::loaders {

// A loader's reply to a file.
struct Taken {
  enum class As : std::uint8_t { accepted, refused, exhausted };
  As as = As::accepted;
  std::string message;
};

// A loader under test.
class Loader {
 public:
  virtual ~Loader() = default;

  virtual std::string_view name() const = 0;
  virtual std::vector<std::string> binaries() const = 0;  // the file names of the testee's binaries, as in Runtime
  // Loads a program and prepares each of its methods; may also run them. May crash, hang and damage memory.
  virtual Taken take(const corrupt::Files& files) = 0;
};

struct LoaderSettings {
  bool executes = false;             // whether to run methods, if the loader can
  std::uint64_t bytes = 256 << 20;   // the memory limit
  std::uint64_t instructions = 1e5;  // the limit for one execution
};

// The loader of a testee. "reference", "optimized"; "executorch", which checks all that it can; "executorch:minimal",
// which checks the header alone; "executorch+xnnpack", which also has XNNPACK; or "./lib.so", a module that exports
// assay_loader_v1, followed by ":VARIANT" if the module has variants. assay's own modules are in `folder`, the folder
// of the executable. Throws Fault with rule "testee".
std::unique_ptr<Loader> load_loader(std::string_view testee, const std::filesystem::path& folder,
                                    const LoaderSettings& settings);

std::unique_ptr<Loader> make_reference_loader(const LoaderSettings& settings);
std::unique_ptr<Loader> make_optimized_loader(const LoaderSettings& settings);
// A loader behind a table of the C interface. The table must outlive the loader; `binaries` are the files of its code.
// Throws Fault loader.version, loader.table.
std::unique_ptr<Loader> make_c_loader(const assay_loader* table, std::vector<std::string> binaries,
                                      const LoaderSettings& settings);

}  // namespace assay::loaders
