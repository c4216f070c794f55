#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/api/loader.h"
#include "conformance/corrupt/cases.h"

namespace assay {

// What a loader says to a file.
struct Taken {
  enum class As : std::uint8_t { accepted, refused, exhausted };
  As as = As::accepted;
  std::string message;
};

// Something that takes files: a loader under test.
class Loader {
 public:
  virtual ~Loader() = default;

  virtual std::string_view name() const = 0;
  virtual std::vector<std::string> binaries() const = 0;  // the names of the files that take, as of a Runtime
  // Loads a program and makes each of its methods ready; may run them, too. May crash, hang and damage memory.
  virtual Taken take(const corrupt::Files& files) = 0;
};

struct LoaderSettings {
  bool executes = false;             // methods, too, where the loader can
  std::uint64_t bytes = 256 << 20;   // of memory
  std::uint64_t instructions = 1e5;  // of an execution
};

// The loader of a testee: "reference", "optimized", "executorch", which checks what it can, "executorch:minimal", which
// looks at the header alone, or "./lib.so", a module that exports assay_loader_v1, with ":VARIANT" behind it if it has
// some. Modules of ours stand in `folder`, the executable's own. Throws Fault with rule "testee".
std::unique_ptr<Loader> load_loader(std::string_view testee, const std::filesystem::path& folder,
                                    const LoaderSettings& settings);

std::unique_ptr<Loader> make_reference_loader(const LoaderSettings& settings);
std::unique_ptr<Loader> make_optimized_loader(const LoaderSettings& settings);
// Behind a table of the C interface, which stays, in these files. Throws Fault loader.version, loader.table.
std::unique_ptr<Loader> make_c_loader(const assay_loader* table, std::vector<std::string> binaries,
                                      const LoaderSettings& settings);

}  // namespace assay
