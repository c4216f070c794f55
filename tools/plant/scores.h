#pragma once

#include <sys/mman.h>

#include <map>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What is planted, and what is found of it.
namespace assay::plant {

struct Planted {
  std::string_view of;      // an operator or a file
  std::string_view kind;    // "rule", "constant"
  std::string_view place;   // what stands there: "R3: rank_between(weight, 3, 5)"
  std::string_view change;  // what is there instead
};
std::string to_text(const Planted& planted);  // in one line, which no other has

// A list of what goes unnoticed, in lines of its text, a bar and the reason: "equal: " and why nobody can notice it, or
// "open". Other lines have no bar.
class Survivors {
 public:
  Survivors() = default;
  explicit Survivors(const char* file);  // throws Fault (malformed) where there is no such file
  const std::string* reason(const Planted& planted) const;

 private:
  std::map<std::string, std::string> reasons_;
};
inline bool is_equal(std::string_view reason) { return reason.starts_with("equal"); }

// What both programs are given:
//   [--sample N] SURVIVORS FOLDER...   a list of what goes unnoticed, and folders of recorded calls. Of a sample, so
//   many
//                                      of each kind that are not listed are tried, the same each time.
struct Options {
  std::size_t sample = 0;
  Survivors listed;
  std::vector<std::string> folders;

  Options(int argc, const char* const* argv);                               // throws Fault
  std::vector<std::size_t> chosen(std::span<const Planted> planted) const;  // the positions of those to try
};

// Prints what goes unnoticed, and how many are noticed of each kind, or of whatever else they are counted by.
class Report {
 public:
  explicit Report(const Survivors& listed) : listed_(listed) {}

  // `found` is said of what goes unnoticed and is not listed.
  void add(const Planted& planted, bool noticed, const std::string& found,
           std::initializer_list<std::string_view> groups);
  bool finish() const;  // whether all was as it is listed

 private:
  struct Count {
    int all = 0, noticed = 0, equal = 0;
  };
  const Survivors& listed_;
  std::map<std::string, Count, std::less<>> counts_;
  bool as_listed_ = true;
};

// Memory that children share, for the life of the process.
template <class T>
std::span<T> shared(std::size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {new (memory) T[count], count};
}

}  // namespace assay::plant
