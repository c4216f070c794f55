#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "reference/fault.h"

namespace assay::command {

// A file that is written beside its place and renamed when it is complete. A file that was there before stays until
// then. What is not a regular file, such as a device or a pipe, is written in place.
class OutputFile {
 public:
  // Whether the part of a file that was not finished stays, so that a later process can continue it.
  enum class Unfinished { removed, kept };

  explicit OutputFile(const std::string& file, Unfinished unfinished = Unfinished::removed)
      : file_(file),
        beside_(is_in_place(file) ? file : part_of(file)),
        unfinished_(unfinished),
        out_(beside_, std::ios::binary) {
    if (!out_) throw Fault(Outcome::exhausted, "output", concat(file, " cannot be written"));
  }
  ~OutputFile() {
    if (!finished_ && (unfinished_ == Unfinished::removed || !out_)) remove_part();
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // The name of the file until it is complete. The file keeps this name if the process dies.
  static std::string part_of(const std::string& file) { return file + ".part"; }

  std::ostream& stream() { return out_; }

  // Throws Fault (exhausted) if something that was written did not reach the file.
  void require_written() {
    if (!out_) throw Fault(Outcome::exhausted, "output", concat(file_, " cannot be written: is the disk full?"));
  }

  void finish() {
    out_.close();
    require_written();
    std::error_code failed;
    if (beside_ != file_) std::filesystem::rename(beside_, file_, failed);
    if (failed) out_.setstate(std::ios::failbit);
    require_written();
    finished_ = true;
  }

 private:
  static bool is_in_place(const std::string& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  }
  void remove_part() {
    std::error_code error;
    if (beside_ != file_) std::filesystem::remove(beside_, error);
  }

  std::string file_, beside_;
  Unfinished unfinished_;
  std::ofstream out_;
  bool finished_ = false;
};

}  // namespace assay::command
