#include <unistd.h>

#include "conformance/programs/calls.h"
#include "conformance/programs/file.h"
#include "conformance/programs/npy.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"

// A calls.json, in a folder with one file of numbers, x.npy.
namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

// Gone with the process's end, unless that comes by a finding.
class Folder {
 public:
  Folder() {
    make_folder(path_);
    write_file(path_ / "x.npy", encode_npy(make(DType::float32, {2, 3})));
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_ = fs::temp_directory_path() / text("assay-fuzz-", getpid());
};

}  // namespace

void attack_calls(Input input) {
  static const Folder folder;
  const fs::path file = folder.path() / "calls.json";
  write_file(file, input);
  const Measured measured(heap_for(input.size()), most_seconds);
  try {
    read_calls(file);
  } catch (const Fault& refused) {
    check_text(refused.message, most_output);
  }
}

}  // namespace assay::fuzz
