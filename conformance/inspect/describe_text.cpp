#include <algorithm>

#include "conformance/inspect/describe.h"
#include "conformance/inspect/describe_payload.h"
#include "conformance/text/fault_text.h"
#include "conformance/text/printable.h"

namespace assay::inspect {
namespace {

// 12345.0 → "12,345 bytes"
std::string bytes_text(double bytes) {
  std::string digits = fmt::format("{:.0f}", bytes);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits + (bytes == 1 ? " byte" : " bytes");
}
std::string bytes_text(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string count_text(std::size_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string index_text(Int value) { return fmt::format("%{}", value); }

std::string place_text(const TensorFacts& t) {
  std::string text = t.memory ? fmt::format("memory {} at {}", t.memory->memory_id(), format::planned_offset(*t.memory))
                     : t.where == "supplied" ? "no planned memory"
                                             : std::string(t.where);
  if (!t.name.empty()) text += ", " + text::in_quotes(t.name);
  return text + (t.initial ? ", initial value" : "");
}

void write_value(const MethodFacts& m, std::size_t position, Int index, text::Output& out) {
  const pte::EValue* v = value_at(m.plan, index);
  if (!v) return out.print("    {:>2}  %{} (there is no such value)\n", position, index);
  const std::string value = m.value_text(index);
  const auto* tensor = v->val_as_Tensor();
  out.print("    {:>2}  {:<6}{:<28}{}\n", position, index_text(index),
            tensor ? value : fmt::format("{} {}", pte::EnumNameKernelTypes(v->val_type()), value),
            tensor ? place_text(facts_of(*tensor)) : "");
}

void write_values(std::string_view title, const MethodFacts& m, std::span<const std::int32_t> values,
                  text::Output& out) {
  out.print("  {}{}\n", title, values.empty() ? ": none" : "");
  for (std::size_t i = 0; i < values.size(); ++i) write_value(m, i, values[i], out);
}

void write_operators(const MethodFacts& m, text::Output& out) {
  out.print("  instructions: {}\n", m.instructions);
  for (const MethodFacts::Calls& o : m.operators) out.print("    {:>4}  {}\n", o.calls, text::shown(m.name(o)));
}

void write_delegates(const format::ProgramView& program, const MethodFacts& m, text::Output& out) {
  if (!m.delegate_calls.empty()) out.write("  delegates\n");
  for (std::uint32_t i = 0; i < m.delegate_calls.size(); ++i) {
    const pte::BackendDelegate& d = *m.plan.delegates()->Get(i);
    const auto bytes = payload_bytes(program, d);
    out.print("    {:>2}  {}, {}, {}, {}\n", i, text::shown(format::text_of(d.id())), location_text(d),
              bytes ? bytes_text(*bytes) : "no payload there", count_text(m.delegate_calls[i], "call"));
    for (const pte::CompileSpec& s : tables(d.compile_specs()))
      out.print("        compile spec {}, {}\n", text::in_quotes(format::text_of(s.key())),
                bytes_text(std::uint64_t{format::size_of(s.value())}));
    with_graph(program, d, [&](const auto& payload) { write_graph(payload, "        ", out); });
  }
}

// The tensors for which a condition holds, largest first, at most `shown` of them.
template <class Condition>
void write_tensors(const MethodFacts& m, std::string_view title, std::size_t shown, Condition holds,
                   text::Output& out) {
  Buffer<std::uint32_t> found;
  double bytes = 0;
  for (std::uint32_t i = 0; i < format::size_of(m.plan.values()); ++i)
    if (const auto* t = tensor_at(m.plan, i); t && holds(facts_of(*t))) found.push_back(i), bytes += byte_count(*t);
  if (found.empty()) return;
  const std::size_t listed = std::min(shown, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(listed), {},
                            [&](std::uint32_t i) { return std::pair(-byte_count(*tensor_at(m.plan, i)), i); });
  out.print("  {}: {}, {}\n", title, count_text(found.size(), "tensor"), bytes_text(bytes));
  for (const std::uint32_t i : std::span(found).first(listed)) {
    const TensorFacts t = facts_of(*tensor_at(m.plan, i));
    out.print("    {:<6}{:<28}{:>16}  {}\n", index_text(i), short_text(t), bytes_text(t.bytes), place_text(t));
  }
  if (found.size() > listed) out.print("    and {} smaller\n", found.size() - listed);
}

// The legend of the letters in the picture.
void write_letters(const MethodFacts& m, const MemoryUse& use, text::Output& out) {
  const std::vector<std::size_t> largest = largest_tenants(use);
  char letter = 'A';
  for (const std::size_t i : largest) {
    const Tenant& t = use.tenants[i];
    out.print("      {}  {:<6}{:<28}{:>16}  instructions {} to {}\n", letter++, index_text(t.value),
              m.value_text(t.value), bytes_text(t.end - t.offset), t.first, t.last);
  }
  if (const std::size_t others = use.tenants.size() - largest.size(); others > 0)
    out.print("      a to z: the {} smaller\n", others);
}

void write_memory(const MethodFacts& m, text::Output& out) {
  for (const MemoryUse& use : memory_use(m.plan)) {
    out.print(
        "  memory {}: {} planned for {}{}\n", use.memory, bytes_text(static_cast<double>(use.bytes)),
        count_text(use.tenants.size(), "tensor"),
        use.most > 0 ? fmt::format(", at most {} in use, at instruction {}", bytes_text(use.most), use.most_at) : "");
    if (use.tenants.empty()) continue;
    out.write(picture(use, m.instructions));
    write_letters(m, use, out);
  }
}

// -- the listing --------------------------------------------------------------------------------------------------

// A constant is shown by its content, any other operand by its index and content.
std::string operand_text(const MethodFacts& m, const Operand& o, bool named) {
  const std::string name = named && !o.name.empty() ? fmt::format("{}=", o.name) : "";
  if (!value_at(m.plan, o.value)) return fmt::format("  {}%{} (there is no such value)", name, o.value);
  const std::string value = m.value_text(o.value);
  if (tensor_at(m.plan, o.value)) return fmt::format("  {}%{} {}", name, o.value, value);
  return !value.empty() ? fmt::format("  {}{}", name, value) : fmt::format("  {}%{}", name, o.value);
}

void write_operands(const MethodFacts& m, const Listed& listed, text::Output& out) {
  const auto outs = std::ranges::count(listed.operands, Operand::Role::output, &Operand::role);
  if (listed.delegate) out.print("  {}", *listed.delegate);
  for (const Operand& o : listed.operands)
    if (o.role != Operand::Role::output) out.write(operand_text(m, o, true));
  if (listed.target) out.print("  to {}", *listed.target);
  if (outs > 0) out.write("  ->");
  for (const Operand& o : listed.operands)
    if (o.role == Operand::Role::output) out.write(operand_text(m, o, outs > 1));  // a single output needs no name
}

void write_listing(const MethodFacts& m, text::Output& out) {
  constexpr std::size_t widest = 40;
  std::size_t width = 0;
  for (const MethodFacts::Calls& o : m.operators)
    width = std::max(width, std::min(widest, text::shown(m.name(o)).size()));
  if (m.instructions > 0) out.write("  listing (> marks where a jump goes to; [<=n]: sizes may be smaller)\n");
  std::uint32_t chain = 0;
  m.each_instruction([&](const InstructionFacts& i) {
    if (i.chain != chain) out.print("    chain {}\n", chain = i.chain);
    out.print("  {} {:>4}  {:<{}}", i.is_target ? '>' : ' ', i.index, text::shown(i.listed.name), width);
    write_operands(m, i.listed, out);
    out.write("\n");
  });
}

void write_method(const format::ProgramView& program, const pte::ExecutionPlan& plan, text::Output& out) {
  const MethodFacts m(plan);
  out.print("\nmethod {}\n", text::shown(format::text_of(plan.name())));
  write_values("inputs", m, format::items(plan.inputs()), out);
  write_values("outputs", m, format::items(plan.outputs()), out);
  write_operators(m, out);
  write_delegates(program, m, out);
  write_tensors(
      m, "constants", 5, [](const TensorFacts& t) { return t.where == "constant" || t.where == "external"; }, out);
  write_tensors(
      m, "state", 50, [](const TensorFacts& t) { return t.state; }, out);
  write_memory(m, out);
  write_listing(m, out);
}

// -- the file -----------------------------------------------------------------------------------------------------

void write_header(const Described& f, text::Output& out) {
  out.print("{}, {}", f.kind.noun, bytes_text(f.bytes));
  if (f.faults.empty()) return out.write(", valid\n");
  const Fault& first = f.faults.front();
  const std::uint64_t others = f.faults.size() - 1 + f.more;
  out.print("\n{}{}\n", text::sentence(first),
            others > 0 ? fmt::format(" (and {} more: assay check shows them)", others) : "");
}

void write_suites(const bpte::BundledProgram& bundle, text::Output& out) {
  for (const bpte::BundledMethodTestSuite& s : tables(bundle.method_test_suites())) {
    out.print("  {} of {}\n", count_text(format::size_of(s.test_cases()), "case"),
              text::shown(format::text_of(s.method_name())));
    std::size_t i = 0;
    for (const bpte::BundledMethodTestCase& c : tables(s.test_cases()))
      out.print("    {:>2}  {}, {}\n", i++, count_text(format::size_of(c.inputs()), "input"),
                count_text(format::size_of(c.expected_outputs()), "expected output"));
  }
}

void write_named(std::string_view sizes, std::uint64_t bytes, std::uint32_t segment, const flatbuffers::String* key,
                 text::Output& out) {
  out.print("  {:<34}{:>16}  segment {}  {}\n", sizes, bytes_text(bytes), segment, text::shown(format::text_of(key)));
}

void write_named_data(const auto& file, text::Output& out) {
  if (format::size_of(file.tables->named_data()) > 0) out.write("\nnamed data\n");
  for (const auto& n : tables(file.tables->named_data())) {
    std::string sizes = "bytes";
    if constexpr (requires { n.tensor_layout(); })
      if (n.tensor_layout()) sizes = short_text(facts_of(*n.tensor_layout()));
    write_named(sizes, named_bytes(file, n.segment_index()), n.segment_index(), n.key(), out);
  }
}

void write_segments(const auto& file, const pte::Program* program, text::Output& out) {
  const Buffer<SegmentUse> uses = segment_uses(*file.tables);
  if (file.segment_count() > 0) out.write("\nsegments\n");
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < file.segment_count(); ++i)
    out.print("  {:>3}{:>20}  {}\n", i, bytes_text(std::uint64_t{file.segment(i).size()}),
              holds_text(program, uses, i, at));
}

}  // namespace

void write_program(const Described& f, text::Output& out) {
  for (const pte::ExecutionPlan* plan : methods_of(f)) write_method(*f.program, *plan, out);
  write_named_data(*f.program, out);
  write_segments(*f.program, f.program->tables, out);
}

void write_data(const Described& f, text::Output& out) {
  write_named_data(format::DataView(f.view), out);
  write_segments(format::DataView(f.view), nullptr, out);
}

void write_bundle(const Described& f, text::Output& out) {
  write_suites(*format::BundleView(f.view).tables, out);
  write_program(f, out);
}

void write_text(const Described& f, text::Output& out) {
  if (f.program) methods_of(f);  // refuses an unknown method before anything is written
  write_header(f, out);
  content_writers(f.kind).text(f, out);
}

}  // namespace assay::inspect
