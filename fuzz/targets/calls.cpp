#include <unistd.h>

#include "conformance/files/file.h"
#include "conformance/files/npy.h"
#include "conformance/hosts/calls.h"
#include "fuzz/printed.h"
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
  printed(input.size(), [&](Output& out) {
    const ProgramCalls calls = read_calls(file, {out.budget()});
    out.print("{} calls\n{}", calls.calls.size(), printable(calls.description));
  });
}

}  // namespace assay::fuzz
