// The formulas of the reference in other arithmetics than doubles, and the bounds of the judge.
//
//   precision own|tightness|looseness [--every N] [--only OPERATORS] [FOLDER]
//     --every N          of the recorded calls of an operator each N-th
//     --only OPERATORS   the operators that match the pattern
//     FOLDER             of recorded calls, golden/operators unless given
// Exits with 1 where something is wrong (precision.h).

#include "proof/precision/precision.h"

#include <charconv>
#include <map>
#include <span>

#include "conformance/runner/case_list.h"
#include "reference/fault.h"

namespace assay::precision {

KnownRows::KnownRows(std::string_view file, const Selection& selection)
    : known_(runner::read_case_list(fmt::format("{}/{}", ASSAY_PRECISION, file), "known")),
      all_calls_(selection.every == 1),
      all_operators_(selection.pattern.empty()) {}

bool KnownRows::is_known(const std::string& row, bool is_wrong, std::string_view found) {
  const bool known = known_.erase(row) > 0;
  if (is_wrong && !known) count(row, found);
  if (!is_wrong && known && all_calls_) count(row, "is listed, but is right");
  return known;
}

int KnownRows::count_wrong() {
  if (all_calls_ && all_operators_)
    for (const std::string& row : known_) count(row, "is listed, but there is no such row");
  return wrong_;
}

void KnownRows::count(std::string_view row, std::string_view found) {
  ++wrong_;
  fmt::print(stderr, "{} {}\n", row, found);
}

namespace {

int run(std::span<const char* const> words) {
  static const std::map<std::string_view, int (*)(const Selection&)> functions = {
      {"own", own_error}, {"tightness", tightness}, {"looseness", looseness}};
  const Fault usage(Outcome::invalid, "arguments",
                    "usage: precision own|tightness|looseness [--every N] [--only OPERATORS] [FOLDER]");
  if (words.empty() || !functions.contains(words[0])) throw usage;
  std::string folder = ASSAY_GOLDEN "/operators", pattern;
  std::size_t every = 1;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool takes_value = word == "--every" || word == "--only";
    if (word.starts_with("--") != takes_value || (takes_value && i + 1 == words.size())) throw usage;
    const std::string_view value = words[i += takes_value];
    if (word == "--every" && std::from_chars(value.data(), value.data() + value.size(), every).ec != std::errc())
      throw usage;
    if (word != "--every") (word == "--only" ? pattern : folder) = value;
  }
  if (every == 0) throw usage;
  return functions.at(words[0])({cases::Corpus(folder), pattern, every});
}

}  // namespace
}  // namespace assay::precision

int main(int argc, char** argv) {
  using namespace assay;
  try {
    return precision::run({argv + 1, argv + argc}) > 0;
  } catch (const Fault& f) {
    fmt::print(stderr, "precision: {}, {}: {}\n", name(f.outcome), f.rule, f.message);
    return exit_code(f.outcome);
  }
}
