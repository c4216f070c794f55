#include "proof/mutation/driver.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <ranges>
#include <utility>

#include "reference/fault.h"

namespace assay::mutation {
namespace {

std::string text_of(const Mutant& m) { return fmt::format("{} | {} | {} | {}", m.of, m.kind, m.place, m.change); }

// Whether a text has the pattern of a SurvivorLine.
bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t quote = pattern.find('`');
  if (quote == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, quote))) return false;
  const std::size_t end = pattern.find('`', quote + 1);
  const std::string_view choices = pattern.substr(quote + 1, end - quote - 1);
  const std::string_view behind = pattern.substr(end + 1);
  text.remove_prefix(quote);
  return std::ranges::any_of(std::views::split(choices, '|'), [&](auto part) {
    const std::string_view choice(part.begin(), part.end());
    return text.starts_with(choice) && matches(behind, text.substr(choice.size()));
  });
}

std::vector<std::size_t> choose(const Options& options, std::span<const Mutant> mutants, Survivors& survivors) {
  std::map<std::pair<std::string_view, bool>, std::vector<std::size_t>> groups;  // by kind and whether they are listed
  for (std::size_t i = 0; i < mutants.size(); ++i)
    if (text_of(mutants[i]).find(options.only) != std::string::npos)
      groups[{mutants[i].kind, survivors.line_of(i) != nullptr}].push_back(i);
  std::vector<std::size_t> chosen;
  for (const auto& [kind, all] : groups) {
    const std::size_t count = options.sample == 0 ? all.size() : std::min(options.sample, all.size());
    for (std::size_t k = 0; k < count; ++k) chosen.push_back(all[k * all.size() / count]);
  }
  std::ranges::sort(chosen);
  return chosen;
}

// Counts what became of mutants and compares it with the list of survivors.
class Report {
 public:
  void add(const Mutant& mutant, const Result& result, SurvivorLine* line) {
    const std::string& reason = line ? line->reason : result.reason;
    for (const std::string_view group : result.groups) {
      Count& count = counts_.try_emplace(std::string(group)).first->second;
      ++count.all, count.noticed += result.noticed, count.equal += !result.noticed && is_equal(reason);
    }
    if (!result.noticed) fmt::print("{} | {}\n", text_of(mutant), reason);
    if (line) line->survived += !result.noticed;
    if (result.noticed == (line != nullptr))
      wrong(text_of(mutant), line ? "is listed as a survivor, but is noticed" : "survives, but is not listed");
  }

  // Lines that a run of these options shows to be wrong.
  void add_lines(const Survivors& survivors, const Options& options) {
    for (const SurvivorLine& line : survivors.lines())
      if (options.only.empty() && (options.whole() ? line.survived : line.matched) == 0)
        wrong(line.pattern, options.whole() ? "is listed, but has no survivor" : "is listed, but matches no mutant");
  }

  bool finish() const {
    for (const auto& [group, c] : counts_)
      fmt::print("{:<18} {:>5} of {:>5} noticed, {:>4} equal: {:.1f} % of the others\n", group, c.noticed, c.all,
                 c.equal, 100.0 * c.noticed / std::max(c.all - c.equal, 1));
    return as_listed_;
  }

 private:
  struct Count {
    int all = 0, noticed = 0, equal = 0;
  };
  void wrong(std::string_view what, std::string_view how) {
    as_listed_ = false;
    fmt::print(stderr, "{} {}\n", what, how);
  }
  std::map<std::string, Count, std::less<>> counts_;
  bool as_listed_ = true;
};

bool run(const Options& options) {
  const std::unique_ptr<Subject> subject = make_subject(options);
  if (options.calls) return subject->print_calls(), true;
  const std::span<const Mutant> mutants = subject->mutants();
  Survivors survivors(std::filesystem::path(ASSAY_MUTATION) / fmt::format("{}.txt", subject->name()), mutants);
  const std::vector<std::size_t> chosen = choose(options, mutants, survivors);
  if (chosen.empty()) throw Fault(Outcome::invalid, "arguments", fmt::format("no mutant has \"{}\"", options.only));
  subject->try_mutants(chosen, survivors);
  Report report;
  for (const std::size_t i : chosen)
    if (const std::optional<Result> result = subject->result(i)) report.add(mutants[i], *result, survivors.line_of(i));
  report.add_lines(survivors, options);
  const bool as_listed = report.finish(), is_enough = subject->is_enough();
  return as_listed && (is_enough || !options.whole());
}

}  // namespace

Survivors::Survivors(const std::filesystem::path& file, std::span<const Mutant> mutants) : line_of_(mutants.size()) {
  std::ifstream in(file);
  if (!in) throw Fault(Outcome::malformed, "survivors", fmt::format("there is no file {}", file.string()));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t bar = line.rfind(" | ");
    if (bar == std::string::npos || std::ranges::count(line.substr(0, bar), '`') % 2 != 0)
      throw Fault(Outcome::malformed, "survivors",
                  fmt::format("{}: \"{}\" is no line of survivors", file.string(), line));
    lines_.push_back({line.substr(0, bar), line.substr(bar + 3)});
  }
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const std::string text = text_of(mutants[i]);
    const auto at = std::ranges::find_if(lines_, [&](const SurvivorLine& l) { return matches(l.pattern, text); });
    if (at != lines_.end()) line_of_[i] = &*at, ++at->matched;
  }
}

Options::Options(std::span<const char* const> words) {
  const auto wrong = [] {
    throw Fault(Outcome::invalid, "arguments", "usage: [--sample N] [--only TEXT] [--calls] [FOLDER...]");
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool takes_value = word == "--sample" || word == "--only";
    if (takes_value && i + 1 == words.size()) wrong();
    const std::string_view value = takes_value ? words[++i] : "";
    if (word == "--only")
      only = value;
    else if (word == "--calls")
      calls = true;
    else if (!word.starts_with("--"))
      folders.emplace_back(word);
    else if (word != "--sample" || std::from_chars(value.data(), value.data() + value.size(), sample).ec != std::errc())
      wrong();
  }
  if (folders.empty())
    for (const char* folder : {"operators", "boundaries/operators", "faults/operators", "traps/operators"})
      folders.push_back(fmt::format("{}/{}", ASSAY_GOLDEN, folder));
}

void Subject::print_calls() {
  throw Fault(Outcome::unsupported, "arguments", fmt::format("{} has no calls to print", name()));
}

std::vector<std::size_t> in_children(std::span<const std::size_t> mutants, std::size_t each,
                                     const std::function<void(std::size_t)>& attempt) {
  static std::size_t& at = shared<std::size_t>(1)[0];  // the position of the mutant that is tried
  std::vector<std::size_t> deadly;
  for (std::size_t begin = 0; begin < mutants.size(); begin = at) {
    const std::size_t end = std::min(mutants.size() - begin, each) + begin;
    at = begin;
    const pid_t child = fork();
    if (child == 0) {
      close(STDERR_FILENO);  // hides the message of an assertion
      const rlimit memory{rlim_t{4} << 30, rlim_t{4} << 30}, core{0, 0};
      setrlimit(RLIMIT_AS, &memory), setrlimit(RLIMIT_CORE, &core);
      for (; at < end; ++at) attempt(mutants[at]);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    if (at < end) deadly.push_back(mutants[at++]);
  }
  return deadly;
}

void limit_processor_seconds(int seconds) {
  const itimerval end{{}, {seconds, 0}};
  setitimer(ITIMER_VIRTUAL, &end, nullptr);
}

}  // namespace assay::mutation

int main(int argc, char** argv) {
  using namespace assay;
  try {
    return mutation::run(mutation::Options({argv + 1, argv + argc})) ? 0 : 1;
  } catch (const Fault& f) {
    fmt::print(stderr, "{}: {}, {}: {}\n", argv[0], name(f.outcome), f.rule, f.message);
    return exit_code(f.outcome);
  }
}
