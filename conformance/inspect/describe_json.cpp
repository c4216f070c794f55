#include "conformance/inspect/describe.h"
#include "conformance/inspect/describe_payload.h"
#include "conformance/text/fault_text.h"
#include "conformance/text/printable.h"

namespace assay::inspect {
namespace {

// A number of bytes. In an invalid program it may be larger than every integer.
text::Json whole(double n) { return n < 0x1p63 ? text::Json(static_cast<Int>(n)) : text::Json(n); }

template <class Items>
void write_list(std::string_view key, const Items& items, text::JsonOutput& out) {
  out.list(key, [&] {
    for (const auto& i : items) out.value(i);
  });
}

// Writes the fields of a tensor into an open object.
void write_tensor(const TensorFacts& t, text::JsonOutput& out) {
  out.field("dtype", t.dtype);
  write_list("sizes", t.sizes, out);
  write_list("dim_order", t.dim_order, out);
  out.field("bytes", whole(t.bytes));
  if (t.where.empty()) return;
  out.field("dynamism", t.dynamism), out.field("where", t.where);
  out.field("state", t.state), out.field("initial_value", t.initial);
  if (!t.name.empty()) out.field("fully_qualified_name", text::cut(t.name));
  if (t.memory) out.field("memory", t.memory->memory_id()), out.field("offset", format::planned_offset(*t.memory));
}

void write_value(const MethodFacts& m, std::uint32_t index, text::JsonOutput& out) {
  out.object([&] {
    out.field("index", index);
    out.field("kind", pte::EnumNameKernelTypes(value_at(m.plan, index)->val_type()));
    if (const auto* tensor = tensor_at(m.plan, index))
      write_tensor(facts_of(*tensor), out);
    else if (const std::string text = m.value_text(index); !text.empty())
      out.field("text", text);
  });
}

void write_instruction(const InstructionFacts& i, text::JsonOutput& out) {
  out.object([&] {
    out.field("chain", i.chain), out.field("index", i.index), out.field("name", text::cut(i.listed.name));
    out.list("operands", [&] {
      for (const Operand& o : i.listed.operands)
        out.value({{"name", o.name}, {"value", o.value}, {"role", name(o.role)}});
    });
    if (i.listed.target) out.field("target", *i.listed.target);
    if (i.listed.delegate) out.field("delegate", *i.listed.delegate);
  });
}

void write_delegate(const format::ProgramView& program, const MethodFacts& m, std::uint32_t i, text::JsonOutput& out) {
  const pte::BackendDelegate& d = *m.plan.delegates()->Get(i);
  out.object([&] {
    const auto bytes = payload_bytes(program, d);
    out.field("backend", text::cut(format::text_of(d.id()))), out.field("location", location_text(d));
    out.field("bytes", bytes ? text::Json(*bytes) : text::Json(nullptr)), out.field("calls", m.delegate_calls[i]);
    out.list("compile_specs", [&] {
      for (const pte::CompileSpec& s : tables(d.compile_specs()))
        out.value({{"key", text::cut(format::text_of(s.key()))}, {"bytes", format::size_of(s.value())}});
    });
    with_graph(program, d, [&](const auto& payload) { out.object("graph", [&] { write_graph(payload, out); }); });
  });
}

void write_memory(const MemoryUse& use, text::JsonOutput& out) {
  out.object([&] {
    out.field("memory", use.memory), out.field("bytes", use.bytes);
    out.field("most_in_use", whole(use.most)), out.field("most_at", use.most_at);
    out.list("tensors", [&] {
      for (const Tenant& t : use.tenants)
        out.value({{"value", t.value},
                   {"offset", whole(t.offset)},
                   {"bytes", whole(t.end - t.offset)},
                   {"first", t.first},
                   {"last", t.last}});
    });
  });
}

void write_method(const format::ProgramView& program, const pte::ExecutionPlan& plan, text::JsonOutput& out) {
  const MethodFacts m(plan);
  out.object([&] {
    out.field("name", text::cut(format::text_of(plan.name())));
    write_list("inputs", format::items(plan.inputs()), out);
    write_list("outputs", format::items(plan.outputs()), out);
    out.list("values", [&] {
      for (std::uint32_t i = 0; i < format::size_of(plan.values()); ++i) write_value(m, i, out);
    });
    out.list("operators", [&] {
      for (const MethodFacts::Calls& o : m.operators) out.value({{"name", text::cut(m.name(o))}, {"calls", o.calls}});
    });
    out.list("delegates", [&] {
      for (std::uint32_t i = 0; i < m.delegate_calls.size(); ++i) write_delegate(program, m, i, out);
    });
    out.list("memory", [&] {
      for (const MemoryUse& use : memory_use(plan)) write_memory(use, out);
    });
    out.list("instructions",
             [&] { m.each_instruction([&](const InstructionFacts& i) { write_instruction(i, out); }); });
  });
}

void write_suite(const bpte::BundledMethodTestSuite& s, text::JsonOutput& out) {
  out.object([&] {
    out.field("method", text::cut(format::text_of(s.method_name())));
    out.list("cases", [&] {
      for (const bpte::BundledMethodTestCase& c : tables(s.test_cases()))
        out.value(
            {{"inputs", format::size_of(c.inputs())}, {"expected_outputs", format::size_of(c.expected_outputs())}});
    });
  });
}

void write_named(const auto& file, text::JsonOutput& out) {
  for (const auto& n : tables(file.tables->named_data()))
    out.object([&] {
      out.field("key", text::cut(format::text_of(n.key())));
      out.field("bytes", named_bytes(file, n.segment_index())), out.field("segment", n.segment_index());
      if constexpr (requires { n.tensor_layout(); })
        if (n.tensor_layout()) out.object("tensor", [&] { write_tensor(facts_of(*n.tensor_layout()), out); });
    });
}

void write_segments(const auto& file, const pte::Program* program, text::JsonOutput& out) {
  const Buffer<SegmentUse> uses = segment_uses(*file.tables);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < file.segment_count(); ++i)
    out.value({{"bytes", file.segment(i).size()}, {"holds", holds_text(program, uses, i, at)}});
}

// The lists that programs and data files have in common.
void write_lists(const auto& file, const pte::Program* program, text::JsonOutput& out) {
  out.list("named_data", [&] { write_named(file, out); });
  out.list("segments", [&] { write_segments(file, program, out); });
}

}  // namespace

void write_program(const Described& f, text::JsonOutput& out) {
  out.list("methods", [&] {
    for (const pte::ExecutionPlan* plan : methods_of(f)) write_method(*f.program, *plan, out);
  });
  write_lists(*f.program, f.program->tables, out);
}

void write_data(const Described& f, text::JsonOutput& out) { write_lists(format::DataView(f.view), nullptr, out); }

void write_bundle(const Described& f, text::JsonOutput& out) {
  out.list("suites", [&] {
    for (const auto& s : tables(format::BundleView(f.view).tables->method_test_suites())) write_suite(s, out);
  });
  write_program(f, out);
}

void write_json(const Described& f, text::JsonOutput& out) {
  if (f.program) methods_of(f);  // refuses an unknown method before anything is written
  out.object([&] {
    out.field("kind", f.kind.name), out.field("bytes", f.bytes);
    out.field("valid", f.faults.empty());
    out.list("faults", [&] {
      for (const Fault& fault : f.faults) out.value(text::fault_json(fault));
    });
    out.field("more_faults", f.more);
    content_writers(f.kind).json(f, out);
  });
}

}  // namespace assay::inspect
