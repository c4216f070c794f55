// What the formulas of the reference give in other arithmetics than doubles.
//
//   numbers own FOLDER KNOWN [OPERATORS]        the reference's own error, on recorded calls
//   numbers tightness FOLDER KNOWN [OPERATORS]  how much of each bound kernels need, on recorded calls and harder data
// --every N: of the recorded calls of an operator each N-th. Exits with 1 where something is wrong.

#include "tools/numbers/numbers.h"

#include <charconv>
#include <optional>
#include <vector>

#include "reference/fault.h"

namespace {

using namespace assay;

std::optional<Int> count_in(std::string_view word) {
  Int n = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  return error == std::errc() && end == word.data() + word.size() && n > 0 ? std::optional(n) : std::nullopt;
}

std::optional<int> run(std::vector<std::string_view> words) {
  Int every = 1;
  if (const auto at = std::ranges::find(words, "--every"); words.end() - at >= 2) {
    const auto n = count_in(at[1]);
    if (!n) return {};
    every = *n;
    words.erase(at, at + 2);
  }
  const auto is = [&](std::string_view name, std::size_t least, std::size_t most) {
    return !words.empty() && words[0] == name && words.size() >= least && words.size() <= most;
  };
  if (is("own", 3, 4) || is("tightness", 3, 4)) {
    const auto look = words[0] == "own" ? numbers::own_error : numbers::tightness;
    return look(Corpus(words[1]), words.size() > 3 ? words[3] : "", static_cast<std::size_t>(every),
                std::string(words[2]));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto wrong = run({argv + 1, argv + argc})) return *wrong > 0;
    fmt::print(stderr,
               "usage: numbers [--every N] own FOLDER KNOWN [OPERATORS]\n"
               "       numbers [--every N] tightness FOLDER KNOWN [OPERATORS]\n");
    return 2;
  } catch (const Fault& f) {
    fmt::print(stderr, "numbers: {}, {}: {}\n", name(f.outcome), f.rule, f.message);
    return exit_code(f.outcome);
  }
}
