#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/corrupt/corruption.h"
#include "conformance/loaders/taker.h"

// What is said of a loader: of each file, of what it did wrong, of each rule.
namespace assay {

// How bad it is, the worst first.
enum class LoaderTier : std::uint8_t {
  damage,    // it ends in a signal, or damages memory
  aborted,   // it ends itself instead of refusing
  hung,      // it does not end
  accepted,  // it accepts what breaks a rule
  refused,   // it refuses what says the same as a file that it accepts
  untested,  // it refuses, but also what has nothing wrong: it says nothing
  none,      // it is right
};
std::string_view word(LoaderTier tier);

struct LoaderLine {
  std::string program;  // of which the file was made; "": it is a case of a rule
  std::string name, subject;
  corrupt::Expected expected = corrupt::Expected::either;
  std::vector<std::string> rules;  // that it breaks, the first first
  std::size_t size = 0;            // bytes
  Fate fate;
  LoaderTier tier = LoaderTier::none;

  std::string rule() const { return rules.empty() ? "" : rules.front(); }
};
// `control`: whether the loader accepts the file that has nothing wrong.
LoaderLine judged(const std::string& program, const corrupt::Attempt& attempt, Fate fate, bool control);

struct LoaderDefect {
  std::size_t files = 0;
  LoaderLine smallest;
};

class LoaderReport {
 public:
  void add(const LoaderLine& line);

  bool has_defects() const { return !defects_.empty(); }
  std::size_t files() const { return files_; }
  // Files that go wrong in the same way, by rule and by what was changed; the worst first.
  const auto& defects() const { return defects_; }
  // How many files whose first broken rule this is, "" for none, came to this end.
  struct Counts {
    std::size_t ends[5] = {}, untested = 0;
  };
  const auto& rules() const { return rules_; }
  std::size_t count(LoaderTier tier) const { return tiers_[static_cast<std::size_t>(tier)]; }

 private:
  struct Key {
    LoaderTier tier;
    Class failure;
    std::string rule, subject;
    auto operator<=>(const Key&) const = default;
  };

  std::size_t files_ = 0, tiers_[7] = {};
  std::map<Key, LoaderDefect> defects_;
  std::map<std::string, Counts> rules_;
};

// A line for each defect, with how the smallest file is made again, and the rules; `words` are those of `assay loader`.
std::string text_of(const LoaderReport& report);
// The table of rules alone, as Markdown.
std::string markdown_of(const LoaderReport& report);

}  // namespace assay
