#include "conformance/report/table.h"

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "conformance/text/printable.h"

namespace assay::report {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::string_view comment_mark = "  # ";
constexpr std::size_t shortest_operator_column = 16;
constexpr std::size_t shortest_worst_column = 16;
constexpr std::size_t shortest_message = 16;

// A line of the table before it is aligned.
struct Line {
  std::string operator_name;
  std::string cases;
  std::vector<std::string> counts;  // of the verdicts that are told
  std::string worst;
  verdict::Tier tier = verdict::Tier::none;
};

struct Widths {
  std::size_t operator_name = 0;
  std::size_t cases = 0;
  std::vector<std::size_t> counts;
  std::size_t worst = 0;

  std::size_t total() const {
    return std::accumulate(counts.begin(), counts.end(), operator_name + cases + worst + 2 * gap.size()) +
           counts.size();
  }
};

fmt::text_style text_style(verdict::Tier tier) {
  if (tier == verdict::Tier::none) return {};
  if (tier >= verdict::Tier::refused && tier != verdict::Tier::invalid_damage) return fg(fmt::terminal_color::yellow);
  const fmt::text_style red = fg(fmt::terminal_color::red);
  return tier == verdict::Tier::damage || tier == verdict::Tier::invalid_damage ? fmt::emphasis::bold | red : red;
}

std::string painted(std::string_view text, fmt::text_style style, bool colour) {
  return colour ? fmt::format("{}", fmt::styled(text, style)) : std::string(text);
}

// Both ends of a name distinguish it from other names, so the middle is cut out.
std::string without_middle(const std::string& name, std::size_t width) {
  if (name.size() <= width) return name;
  const std::size_t tail = (width - 1) / 2;
  return name.substr(0, width - 1 - tail) + "…" + name.substr(name.size() - tail);
}

std::string count_text(std::uint64_t count) { return count == 0 ? "-" : fmt::format("{}", count); }

using Told = std::vector<verdict::VerdictRow>;

Told told_of(const verdict::TesteeSummary& testee) {
  const verdict::VerdictCounts all = verdict::verdict_counts(testee);
  Told told;
  std::ranges::copy_if(verdict::verdicts, std::back_inserter(told),
                       [&](const verdict::VerdictRow& row) { return verdict::is_told(row.verdict, all); });
  return told;
}

Line heading(std::string_view subject, const Told& told) {
  Line line{std::string(subject), "cases", {}, "worst", {}};
  for (const verdict::VerdictRow& row : told) line.counts.emplace_back(row.name);
  return line;
}

Line counted(std::string operator_name, const verdict::VerdictCounts& counts, const Told& told) {
  Line line{std::move(operator_name), count_text(verdict::total(counts)), {}, "", {}};
  for (const verdict::VerdictRow& row : told)
    line.counts.push_back(count_text(counts[static_cast<std::size_t>(row.verdict)]));
  return line;
}

Line of_operator(const std::string& operator_name, const verdict::OperatorSummary& entry, const Told& told) {
  Line line = counted(text::printable(operator_name), entry.verdicts, told);
  if (entry.worst != verdict::Tier::none) line.worst = verdict::name(entry.worst);
  line.tier = entry.worst;
  return line;
}

Widths measure(const std::vector<Line>& lines) {
  Widths widths;
  widths.counts.resize(lines.front().counts.size());
  for (const Line& line : lines) {
    widths.operator_name = std::max(widths.operator_name, line.operator_name.size());
    widths.cases = std::max(widths.cases, line.cases.size());
    for (std::size_t i = 0; i < line.counts.size(); ++i)
      widths.counts[i] = std::max(widths.counts[i], line.counts[i].size());
    widths.worst = std::max(widths.worst, line.worst.size());
  }
  return widths;
}

// Reduces one column by the excess of the table, but not below its shortest width.
void shrink(std::size_t& column, std::size_t shortest, std::size_t total, std::size_t table_width) {
  const std::size_t excess = total > table_width ? total - table_width : 0;
  const std::size_t spare = column > shortest ? column - shortest : 0;
  column -= std::min(excess, spare);
}

Widths fit(Widths widths, std::size_t table_width) {
  shrink(widths.worst, shortest_worst_column, widths.total(), table_width);
  shrink(widths.operator_name, shortest_operator_column, widths.total(), table_width);
  return widths;
}

void write_line(std::ostream& out, const Line& line, const Widths& widths, bool colour) {
  fmt::print(out, "{:<{}}{}{:>{}}", without_middle(line.operator_name, widths.operator_name), widths.operator_name, gap,
             line.cases, widths.cases);
  for (std::size_t i = 0; i < line.counts.size(); ++i) fmt::print(out, " {:>{}}", line.counts[i], widths.counts[i]);
  if (!line.worst.empty()) {
    const std::string worst = without_middle(line.worst, widths.worst);
    fmt::print(out, "{}{}", gap, painted(worst, text_style(line.tier), colour));
  }
  out << '\n';
}

void write_lines(std::ostream& out, const verdict::TesteeSummary& testee, const TableStyle& style) {
  const Told told = told_of(testee);
  std::vector<Line> lines{heading(style.subject, told)};
  for (const auto& [operator_name, entry] : testee.operators) lines.push_back(of_operator(operator_name, entry, told));
  lines.push_back(counted(fmt::format("total of {}", testee.operators.size()), verdict::verdict_counts(testee), told));

  const bool fitted = style.width != TableStyle::unlimited;
  const Widths widths = fitted ? fit(measure(lines), style.width) : measure(lines);
  const std::string rule(fitted ? style.width : widths.total(), '-');
  for (const Line& line : lines) {
    if (&line == &lines.back()) out << rule << '\n';
    write_line(out, line, widths, style.colour);
    if (&line == &lines.front()) out << rule << '\n';
  }
}

// The message as a shell comment, which follows the command, so that the whole line can be pasted. What a testee wrote
// before it hung does not tell why.
std::string comment(const verdict::Record& r, std::size_t room) {
  const bool hangs = r.verdict == verdict::Verdict::timeout;
  const std::string text = text::printable(hangs ? r.message.substr(0, r.message.find('\n')) : r.message);
  if (text.empty() || room < shortest_message) return "";
  const bool fits = fmt::formatted_size("{}", text) <= room;
  return fmt::format("{}{}", comment_mark, fits ? text : fmt::format("{:.{}}…", text, room - 1));
}

// The number of the defect's cases that the run before did not have.
std::size_t fresh_cases(const verdict::Defect& d, const TableStyle& style) {
  return static_cast<std::size_t>(
      std::ranges::count_if(d.case_ids, [&](const std::string& id) { return style.fresh->contains(id); }));
}

void write_defect(std::ostream& out, const verdict::Defect& d, std::size_t tier_width, const TableStyle& style) {
  const std::string tier = fmt::format("{:<{}}", verdict::name(d.tier), tier_width);
  const std::string far = verdict::how_far(d);
  const std::string fresh = style.fresh ? fmt::format(", {} of them new", fresh_cases(d, style)) : "";
  fmt::print(out, "{}{}{} ({} {}{}{}{})\n", painted(tier, text_style(d.tier), style.colour), gap,
             text::printable(d.sentence), d.cases, d.cases == 1 ? "case" : "cases", fresh, far.empty() ? "" : ", ",
             far);
  const std::string repro = verdict::repro_line(d);
  const std::size_t used = tier_width + gap.size() + repro.size() + comment_mark.size();
  const std::size_t width = style.width == TableStyle::unlimited ? std::string::npos : style.width;
  fmt::print(out, "{:{}}{}{}{}\n", "", tier_width, gap, repro, comment(d.smallest, width > used ? width - used : 0));
}

// The defects that the table lists: those within the contract, or all.
std::vector<const verdict::Defect*> listed(const verdict::TesteeSummary& testee, const TableStyle& style) {
  std::vector<const verdict::Defect*> list;
  for (const verdict::Defect& d : testee.defects)
    if (!d.known && (d.promised() || style.outside) && (!style.fresh || fresh_cases(d, style) > 0)) list.push_back(&d);
  return list;
}

void write_defects(std::ostream& out, const verdict::TesteeSummary& testee, const TableStyle& style) {
  const std::vector<const verdict::Defect*> list = listed(testee, style);
  const auto others =
      std::ranges::count_if(testee.defects, [](const verdict::Defect& d) { return !d.known && !d.promised(); });
  if (list.empty()) {
    out << (style.fresh ? "\nNo new defects.\n" : "\nNo defects.\n");
  } else {
    out << (style.fresh ? "\nDefects with new cases" : "\nDefects")
        << ", most serious first, each with its smallest call\n";
    std::size_t tier_width = 0;
    const std::size_t shown = std::min(list.size(), style.defects);
    for (std::size_t i = 0; i < shown; ++i) tier_width = std::max(tier_width, verdict::name(list[i]->tier).size());
    for (std::size_t i = 0; i < shown; ++i) write_defect(out, *list[i], tier_width, style);
    if (shown < list.size()) fmt::print(out, "... and {} more: --defects {}\n", list.size() - shown, list.size());
  }
  if (others > 0 && !style.outside && !style.fresh)
    fmt::print(out, "{} more outside of the contract: --strict\n", others);
}

void write_expected(std::ostream& out, const verdict::TesteeSummary& testee) {
  std::uint64_t cases = 0;
  for (const auto& [operator_name, entry] : testee.operators) cases += entry.listed;
  if (cases > 0) fmt::print(out, "{} {} failed as listed\n", cases, cases == 1 ? "case" : "cases");
  for (const std::string& id : testee.passing_though_listed)
    fmt::print(out, "{} is listed, but passes\n", text::printable(id));
}

// The values of a feature with their counts, in lines that fit.
void write_counts(std::ostream& out, const verdict::FeatureCounts& counts, std::size_t name_width, std::size_t width) {
  std::string line = fmt::format("  {:<{}} ", counts.feature, name_width);
  const std::size_t begin = line.size();
  for (const auto& [value, count] : counts.values) {
    const std::string text =
        fmt::format(" {}: {}{}", text::printable(value), count, &value == &counts.values.back().first ? "" : ",");
    if (width != TableStyle::unlimited && line.size() > begin && line.size() + text.size() > width)
      out << std::exchange(line, std::string(begin, ' ')) << '\n';
    line += text;
  }
  out << line << '\n';
}

// The answers by the features of their calls, and the promises without an answer.
void write_passes(std::ostream& out, const verdict::TesteeSummary& testee, std::size_t width) {
  fmt::print(out, "\n{}\n", verdict::kinds_of_passes(testee));
  const std::vector<verdict::FeatureCounts> features = verdict::answers_by_feature(testee);
  std::size_t name_width = 0;
  for (const verdict::FeatureCounts& f : features) name_width = std::max(name_width, f.feature.size());
  if (!features.empty()) out << "distinct calls answered, by feature\n";
  for (const verdict::FeatureCounts& f : features) write_counts(out, f, name_width, width);
  if (const std::string untried = verdict::untried_promises(testee); !untried.empty())
    out << text::printable(untried) << '\n';
}

}  // namespace

void write_table(std::ostream& out, const verdict::Summary& summary, const TableStyle& style) {
  if (summary.testees.empty()) out << "No case was judged.\n";
  bool first = true;
  for (const auto& [name, testee] : summary.testees) {
    if (!first) out << '\n';
    first = false;
    fmt::print(out, "{}\n\n", painted(text::printable(name), fmt::emphasis::bold, style.colour));
    write_lines(out, testee, style);
    write_defects(out, testee, style);
    write_expected(out, testee);
    write_passes(out, testee, style.width);
    fmt::print(out, "{}\n", verdict::headline(testee));
  }
}

}  // namespace assay::report
