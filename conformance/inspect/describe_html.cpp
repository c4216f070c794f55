#include <fmt/format.h>

#include <sstream>

#include "conformance/inspect/describe.h"
#include "conformance/inspect/describe_payload.h"
#include "conformance/text/printable.h"

// A web page with the graph of each payload as a table, and the description in text.
namespace assay::inspect {
namespace {

using format::xnnpack::PayloadView;

constexpr std::string_view head = R"(<!doctype html><meta charset="utf-8"><title>assay inspect</title><style>
body { font: 14px system-ui, sans-serif; margin: 2em; } table { border-collapse: collapse; margin-bottom: 1.5em; }
td, th { border: 1px solid #ccc; padding: 2px 8px; text-align: left; vertical-align: top; } pre { font-size: 12px; }
tr:target { background: #ffd; }
</style>
)";

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text)
    if (c == '&')
      all += "&amp;";
    else if (c == '<')
      all += "&lt;";
    else
      all += c;
  return all;
}

std::string shown(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string all;
  for (const auto& [name, text] : fields) all += fmt::format("{}{}={}", all.empty() ? "" : " ", name, text);
  return escaped(all);
}

// Links to the rows of the values of this graph.
std::string links(const format::xnnpack::Operands& operands, std::size_t graph) {
  std::string all;
  for (const format::xnnpack::Operand& o : operands)
    all += fmt::format("{}{} <a href=\"#g{}v{}\">%{}</a>", all.empty() ? "" : ", ", o.name, graph, o.id, o.id);
  return all;
}

void write_tables(const PayloadView& payload, std::size_t graph, text::Output& out) {
  out.write("<table><tr><th>node<th>kind<th>inputs<th>outputs<th>parameters<th>bounds\n");
  for (std::uint32_t i = 0; i < format::size_of(payload.tables->nodes()); ++i) {
    const xnn::Node& node = *payload.tables->nodes()->Get(i);
    const auto [inputs, outputs] = format::xnnpack::operands_of(node);
    const auto [least, most] = format::xnnpack::bounds_of(node);
    out.print("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}\n", i, format::xnnpack::kind_name(node), links(inputs, graph),
              links(outputs, graph), shown(node_parameters(node)),
              node.bounds() ? fmt::format("{} to {}", least, most) : "");
  }
  out.write("</table>\n<table><tr><th>value<th>type<th>from<th>quantization<th>parameters\n");
  for (std::uint32_t i = 0; i < format::size_of(payload.tables->values()); ++i) {
    const GraphValue v = graph_value(payload, i);
    out.print("<tr id=\"g{}v{}\"><td>%{}<td>{}<td>{}<td>{}<td>{}\n", graph, v.id, v.id, short_text(v),
              escaped(v.source), v.quantization, shown(v.parameters));
  }
  out.write("</table>\n");
}

}  // namespace

void write_html(const Described& f, text::Output& out) {
  std::ostringstream text;
  text::Output plain(&text, out.budget());
  write_text(f, plain);
  out.write(head);
  std::size_t graph = 0;
  if (&f.kind == &format::xnnpack_kind) write_tables(PayloadView(f.view), graph, out);
  for (const pte::ExecutionPlan* plan : methods_of(f))
    for (std::uint32_t i = 0; i < format::size_of(plan->delegates()); ++i)
      with_graph(*f.program, *plan->delegates()->Get(i), [&](const PayloadView& payload) {
        out.print("<h2>delegate {} of {}</h2>\n", i, escaped(text::shown(format::text_of(plan->name()))));
        write_tables(payload, graph++, out);
      });
  out.print("<h2>Description</h2>\n<pre>{}</pre>\n", escaped(text.view()));
}

}  // namespace assay::inspect
