#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reference/program/program.h"
#include "reference/value.h"

// What a loader has to do with a file that was made of another one.
namespace assay::corrupt {

enum class Expected : std::uint8_t {
  refused,   // n_: it breaks a rule that every loader has to ask for
  accepted,  // y_: it says the same as the file of which it was made
  either,    // i_: it says something else, or a limit or a feature is the loader's own matter; it must not crash
};
std::string_view prefix(Expected expected);  // "n_"

struct Expectation {
  Expected expected;
  std::vector<Fault> faults;  // what is wrong with it, as our own checks find it
};

// What is wrong with a file that is to be of this kind, a program by default; a program with its data files.
std::vector<Fault> faults_of(const FileKind* kind, const Bytes& file, const std::vector<Bytes>& data);
// What that means for a loader, if there is anything.
Expected expected_of(const std::vector<Fault>& faults);

// A file with those that it is loaded with, which keep every rule.
class Original {
 public:
  // A program with its data files, a data file or a bundle. Throws the first Fault of one that breaks a rule.
  explicit Original(Bytes file, std::vector<Bytes> data = {});

  const Bytes& file() const { return file_; }
  const std::vector<Bytes>& data() const { return data_; }

  // Of a file that stands in its place.
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
  Meaning meaning_;  // of a program
};

}  // namespace assay::corrupt
