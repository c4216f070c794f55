#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reference/program/program.h"
#include "reference/value.h"

// What a loader has to do with a file that was made of another file.
namespace assay::corrupt {

enum class Expected : std::uint8_t {
  refused,   // n_: the file breaks a rule that every loader must check
  accepted,  // y_: the file means the same as the original
  either,    // i_: the meaning differs, or it depends on limits or features of the loader; a crash is wrong
};
std::string_view prefix(Expected expected);  // "n_"

struct Expectation {
  Expected expected;
  std::vector<Fault> faults;  // the faults that assay's own checks find
};

// The faults of a file of this kind, null for a program; a program with its data files.
std::vector<Fault> faults_of(const FileKind* kind, const Bytes& file, const std::vector<Bytes>& data);
// What a loader is expected to do with a file that has these faults. Requires at least one fault.
Expected expected_of(const std::vector<Fault>& faults);

// A file with its data files. All of them keep every rule.
class Original {
 public:
  // Throws the first Fault of a file that breaks a rule.
  explicit Original(Bytes file, std::vector<Bytes> data = {});

  const Bytes& file() const { return file_; }
  const std::vector<Bytes>& data() const { return data_; }

  // The expectation for a file that replaces this one.
  Expectation expectation(const Bytes& changed) const;

 private:
  struct Method {
    std::string name, refused;
    std::vector<Value> outputs;
  };
  using Meaning = std::vector<Method>;

  bool same_meaning(const Bytes& changed) const;
  Meaning run(const Bytes& program) const;
  static bool same(const Meaning& a, const Meaning& b);

  Bytes file_;
  std::vector<Bytes> data_;
  Meaning meaning_;  // the meaning of the program
};

}  // namespace assay::corrupt
