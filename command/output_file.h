#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "reference/fault.h"

namespace assay {

// A file that is written beside its place and renamed when it is complete. A file that was there before stays until
// then.
class OutputFile {
 public:
  explicit OutputFile(const std::string& file) : file_(file), beside_(part_of(file)), out_(beside_, std::ios::binary) {
    if (!out_) throw Fault(Outcome::exhausted, "output", text(file, " cannot be written"));
  }

  // The name of the file until it is complete. The file keeps this name if the process dies.
  static std::string part_of(const std::string& file) { return file + ".part"; }

  std::ostream& stream() { return out_; }

  void finish() {
    out_.close();
    std::error_code failed;
    if (out_) std::filesystem::rename(beside_, file_, failed);
    if (!out_ || failed)
      throw Fault(Outcome::exhausted, "output", text(file_, " cannot be written: is the disk full?"));
  }

 private:
  std::string file_, beside_;
  std::ofstream out_;
};

}  // namespace assay
