#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/results.h"
#include "conformance/text/printable.h"

namespace assay::bench {
namespace {

constexpr double milli = 1e3, mebi = 1 << 20;

std::string in_milliseconds(double seconds) {
  const double ms = milli * seconds;
  return fmt::format("{:.{}f}", ms, ms < 10 ? 3 : ms < 100 ? 2 : ms < 1000 ? 1 : 0);
}

std::string times(const std::vector<double>& seconds) {
  if (seconds.empty()) return fmt::format("{:>9} {:>9} {:>5}", "-", "-", "-");
  const Spread s = spread_of(seconds);
  return fmt::format("{:>9} {:>9} {:>4.0f}%", in_milliseconds(s.median), in_milliseconds(s.p90),
                     100 * (s.p75 - s.p25) / s.median);
}

std::string ratio(const Measurement& ours, const Measurement& other) {
  const std::vector<double> all = ratios(ours, other);
  const Spread s = spread_of(all);
  if (all.empty()) return fmt::format("{:>7}", "-");
  return fmt::format("{:>7.2f} ({:.2f} to {:.2f})", s.median, s.p25, s.p75);
}

std::string in_words(const std::vector<files::Comparison>& outputs, const files::Tolerance& tolerance) {
  double distance = 0;
  for (const files::Comparison& c : outputs) {
    if (!c.agrees()) return "DIFFER: " + text::printable(files::sentence(c, tolerance));
    distance = std::max(distance, c.distance);
  }
  return outputs.empty() ? "nothing to compare" : fmt::format("agree, off by at most {:.2g}", distance);
}

std::string memory(const Measurement& m) {
  return m.memory ? fmt::format("{:.1f}", static_cast<double>(*m.memory) / mebi) : "-";
}

// A name that is too long for its column has a line of its own.
std::string in_first_column(const std::string& name) {
  constexpr std::size_t width = 30;
  return name.size() > width ? fmt::format("{}\n{:<{}}", name, "", width) : fmt::format("{:<{}}", name, width);
}

void write_row(std::ostream& out, const ProgramResult& program, std::size_t i) {
  const Measurement &ours = program.engines.front(), &m = program.engines[i];
  if (m.failure.outcome != Outcome::ok) {
    out << fmt::format("{:<30} FAILS: {}, {}\n", m.contender, name(m.failure.outcome),
                       text::printable(m.failure.message));
    return;
  }
  out << fmt::format("{} {:>9} {:>9} {:>8}  {}  {}  {:<22}  {}{}{}\n", in_first_column(m.contender),
                     in_milliseconds(m.load), in_milliseconds(m.first), memory(m), times(m.alternating),
                     times(m.bursts), i == 0 || ours.failure.outcome != Outcome::ok ? "" : ratio(ours, m),
                     in_words(m.outputs, program.tolerance), m.once ? "; ran once" : "",
                     m.clock.empty() ? "" : text::printable("; clock: " + m.clock));
}

// The operators that take the most time, so that together they take at least 99 % of it.
void write_operators(std::ostream& out, const Measurement& m) {
  const std::vector<OperatorTime> times = operator_times(m);
  double all = 0, told = 0;
  for (const OperatorTime& t : times) all += t.seconds;
  if (times.empty()) return;
  out << fmt::format("{}, step by step: {} ms\n", m.contender, in_milliseconds(all));
  for (auto t = times.begin(); t != times.end() && told < 0.99 * all; told += t++->seconds)
    out << fmt::format("  {:<44} {:<28} {:>5} {:>9} ms {:>4.0f}%\n", t->op, t->kernel, t->steps,
                       in_milliseconds(t->seconds), 100 * t->seconds / all);
}

void write_program(std::ostream& out, const ProgramResult& program) {
  out << fmt::format("\n{}, {}\n", text::printable(program.program), text::printable(program.inputs_from));
  out << fmt::format("{:<30} {:>9} {:>9} {:>8}  {:<25}  {:<25}  {}\n", "", "", "", "", "alternating, ms",
                     "in bursts, ms", "times as long");
  out << fmt::format("{:<30} {:>9} {:>9} {:>8}  {:>9} {:>9} {:>5}  {:>9} {:>9} {:>5}  {:<22}  {}\n", "engine",
                     "load, ms", "first, ms", "MiB", "median", "90 %", "+-", "median", "90 %", "+-",
                     "(half of all rounds)", "outputs");
  for (std::size_t i = 0; i < program.engines.size(); ++i) write_row(out, program, i);
  for (const Measurement& m : program.engines) write_operators(out, m);
  for (std::size_t i = 0; i < program.judged.size(); ++i)
    out << fmt::format("{}{} {}\n", program.judged[i].passes ? "" : "NOTE: ", program.engines[i].contender,
                       text::printable(program.judged[i].sentence));
}

std::string mean_and_least(const std::vector<double>& values) {
  if (values.empty()) return fmt::format("{:>8} {:>8}", "-", "-");
  return fmt::format("{:>8.2f} {:>8.2f}", geometric_mean(values), *std::ranges::min_element(values));
}

void write_races(std::ostream& out, const Results& results) {
  out << fmt::format("\nHow many times as long as {} the others take, geometric mean and least of {} programs\n",
                     results.programs.front().engines.front().contender, results.programs.size());
  out << fmt::format("{:<30} {:>17}  {:>17}\n", "", "alternating", "in bursts");
  for (const Race& race : races(results))
    out << fmt::format("{} {}  {}\n", in_first_column(race.other), mean_and_least(race.alternating),
                       mean_and_least(race.bursts));
}

}  // namespace

void write_text(std::ostream& out, const Results& results) {
  out << fmt::format("{}, {} {}: {}; {}\n", results.processor, results.processors.size(),
                     results.processors.size() == 1 ? "thread on processor" : "threads on processors",
                     fmt::join(results.processors, ", "), results.date);
  for (const ProgramResult& program : results.programs) write_program(out, program);
  if (results.programs.size() > 1 && results.programs.front().engines.size() > 1) write_races(out, results);
}

}  // namespace assay::bench
