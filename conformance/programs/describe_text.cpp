#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/programs/describe.h"

namespace assay {
namespace {

// 12345.0 → "12,345 bytes"
std::string bytes_text(double bytes) {
  std::string digits = fmt::format("{:.0f}", bytes);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits + (bytes == 1 ? " byte" : " bytes");
}

std::string count_text(std::size_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string place_text(const TensorFacts& t) {
  std::string text = t.where == "planned"    ? fmt::format("memory {} at {}", *t.memory, t.offset)
                     : t.where == "supplied" ? "no planned memory"
                                             : t.where;
  if (!t.name.empty()) text += fmt::format(", \"{}\"", t.name);
  return text + (t.initial ? ", initial value" : "");
}

std::string value_line(const MethodFacts& m, std::size_t position, Int index) {
  const ValueFacts* v = m.value(index);
  if (!v) return fmt::format("    {:>2}  %{} (there is no such value)\n", position, index);
  const std::string what = v->text.empty() || !v->tensor ? fmt::format("{} {}", v->kind, v->text) : v->text;
  return fmt::format("    {:>2}  {:<6}{:<28}{}\n", position, fmt::format("%{}", index), what,
                     v->tensor ? place_text(*v->tensor) : "");
}

std::string values_text(std::string_view title, const MethodFacts& m, const std::vector<Int>& values) {
  std::string text = fmt::format("  {}{}\n", title, values.empty() ? ": none" : "");
  for (std::size_t i = 0; i < values.size(); ++i) text += value_line(m, i, values[i]);
  return text;
}

std::string operators_text(const MethodFacts& m) {
  std::string text = fmt::format("  instructions: {}\n", m.instructions.size());
  for (const auto& [name, calls] : m.operators) text += fmt::format("    {:>4}  {}\n", calls, name);
  return text;
}

std::string delegates_text(const MethodFacts& m) {
  std::string text = m.delegates.empty() ? "" : "  delegates\n";
  for (std::size_t i = 0; i < m.delegates.size(); ++i) {
    const DelegateFacts& d = m.delegates[i];
    text += fmt::format("    {:>2}  {}, {}, {}, {}\n", i, d.backend, d.location,
                        d.bytes ? bytes_text(static_cast<double>(*d.bytes)) : "no payload there",
                        count_text(d.calls, "call"));
    for (const auto& [key, bytes] : d.compile_specs)
      text += fmt::format("        compile spec \"{}\", {}\n", key, bytes_text(static_cast<double>(bytes)));
  }
  return text;
}

// The tensors for which a condition holds, largest first, at most `shown` of them.
template <class Condition>
std::string tensors_text(const MethodFacts& m, std::string_view title, std::size_t shown, Condition holds) {
  std::vector<const ValueFacts*> found;
  double bytes = 0;
  for (const ValueFacts& v : m.values)
    if (v.tensor && holds(*v.tensor)) found.push_back(&v), bytes += v.tensor->bytes;
  if (found.empty()) return "";
  std::ranges::stable_sort(found, std::greater(), [](const ValueFacts* v) { return v->tensor->bytes; });
  std::string text = fmt::format("  {}: {}, {}\n", title, count_text(found.size(), "tensor"), bytes_text(bytes));
  for (const ValueFacts* v : std::span(found).first(std::min(shown, found.size())))
    text += fmt::format("    {:<6}{:<28}{:>16}  {}\n", fmt::format("%{}", v->index), v->text,
                        bytes_text(v->tensor->bytes), place_text(*v->tensor));
  return text + (found.size() > shown ? fmt::format("    and {} smaller\n", found.size() - shown) : "");
}

// Who is meant by the letters of the picture.
std::string letters_text(const MethodFacts& m, const MemoryUse& use) {
  std::string text;
  char letter = 'A';
  for (const std::size_t i : largest_tenants(use)) {
    const Tenant& t = use.tenants[i];
    text += fmt::format("      {}  {:<6}{:<28}{:>16}  instructions {} to {}\n", letter++, fmt::format("%{}", t.value),
                        m.value(t.value)->text, bytes_text(t.end - t.offset), t.first, t.last);
  }
  const std::size_t others = use.tenants.size() - largest_tenants(use).size();
  return text + (others > 0 ? fmt::format("      a to z: the {} smaller\n", others) : "");
}

std::string memory_text(const MethodFacts& m) {
  std::string text;
  for (const MemoryUse& use : m.memory) {
    text += fmt::format("  memory {}: {} planned for {}", use.memory, bytes_text(static_cast<double>(use.bytes)),
                        count_text(use.tenants.size(), "tensor"));
    text += use.most > 0 ? fmt::format(", at most {} in use, at instruction {}\n", bytes_text(use.most), use.most_at)
                         : "\n";
    if (use.tenants.empty()) continue;
    text += picture(use, static_cast<Int>(m.instructions.size())) + letters_text(m, use);
  }
  return text;
}

// -- the listing --------------------------------------------------------------------------------------------------

// Constants by what they are; others by their index, and what is there.
std::string operand_text(const MethodFacts& m, const Operand& o) {
  const std::string name = o.name.empty() ? "" : o.name + "=";
  const ValueFacts* v = m.value(o.value);
  if (!v) return fmt::format("{}%{} (there is no such value)", name, o.value);
  if (v->tensor) return fmt::format("{}%{} {}", name, o.value, v->text);
  return !v->text.empty() ? name + v->text : fmt::format("{}%{}", name, o.value);
}

std::string operands_text(const MethodFacts& m, const Listed& listed) {
  std::string in, out;
  const auto outs = std::ranges::count(listed.operands, Operand::Role::output, &Operand::role);
  for (Operand o : listed.operands) {
    const bool is_out = o.role == Operand::Role::output;
    if (is_out && outs == 1) o.name.clear();  // its place says it
    (is_out ? out : in) += "  " + operand_text(m, o);
  }
  if (listed.target) in += fmt::format("  to {}", *listed.target);
  if (listed.delegate) in = fmt::format("  {}", *listed.delegate) + in;
  return in + (out.empty() ? "" : "  ->" + out);
}

std::string listing_text(const MethodFacts& m) {
  constexpr std::size_t widest = 40;
  std::size_t width = 0;
  for (const InstructionFacts& i : m.instructions) width = std::max(width, std::min(widest, i.listed.name.size()));
  std::string text =
      m.instructions.empty() ? "" : "  listing (> marks where a jump goes to; [<=n]: sizes may be smaller)\n";
  std::size_t chain = 0;
  for (const InstructionFacts& i : m.instructions) {
    if (i.chain != chain) text += fmt::format("    chain {}\n", chain = i.chain);
    text += fmt::format("  {} {:>4}  {:<{}}{}\n", i.is_target ? '>' : ' ', i.index, i.listed.name, width,
                        operands_text(m, i.listed));
  }
  return text;
}

std::string method_text(const MethodFacts& m) {
  return fmt::format("\nmethod {}\n", m.name) + values_text("inputs", m, m.inputs) +
         values_text("outputs", m, m.outputs) + operators_text(m) + delegates_text(m) +
         tensors_text(m, "constants", 5,
                      [](const TensorFacts& t) { return t.where == "constant" || t.where == "external"; }) +
         tensors_text(m, "state", 50, [](const TensorFacts& t) { return t.state; }) + memory_text(m) + listing_text(m);
}

std::string header_text(const FileFacts& f) {
  constexpr std::string_view kinds[] = {"program", "data file", "bundle", "program"};
  std::string text =
      fmt::format("{}, {}", kinds[static_cast<std::size_t>(f.kind)], bytes_text(static_cast<double>(f.bytes)));
  if (f.faults.empty()) return text + ", valid\n";
  const Fault& first = f.faults.front();
  const std::string others =
      f.faults.size() > 1 ? fmt::format(" (and {} more: assay check shows all)", f.faults.size() - 1) : "";
  return fmt::format("{}\n{}, {}: {}{}{}{}\n", text, name(first.outcome), first.rule, first.place,
                     first.place.empty() ? "" : ": ", first.message, others);
}

}  // namespace

std::string to_text(const FileFacts& f) {
  std::string text = header_text(f);
  for (const SuiteFacts& s : f.suites) {
    text += fmt::format("  {} of {}\n", count_text(s.cases.size(), "case"), s.method);
    for (std::size_t i = 0; i < s.cases.size(); ++i)
      text += fmt::format("    {:>2}  {}, {}\n", i, count_text(s.cases[i].first, "input"),
                          count_text(s.cases[i].second, "expected output"));
  }
  for (const MethodFacts& m : f.methods) text += method_text(m);
  if (!f.named.empty()) text += "\nnamed data\n";
  for (const NamedFacts& n : f.named) {
    const std::string sizes =
        n.tensor ? fmt::format("{}[{}]", n.tensor->alias, fmt::join(n.tensor->sizes, ",")) : "bytes";
    text += fmt::format("  {:<34}{:>16}  segment {}  {}\n", sizes, bytes_text(static_cast<double>(n.bytes)), n.segment,
                        n.key);
  }
  if (!f.segments.empty()) text += "\nsegments\n";
  for (std::size_t i = 0; i < f.segments.size(); ++i)
    text += fmt::format("  {:>3}{:>20}  {}\n", i, bytes_text(static_cast<double>(f.segments[i].bytes)),
                        f.segments[i].holds);
  return text;
}

}  // namespace assay
