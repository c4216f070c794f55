#include "conformance/inspect/describe_payload.h"

#include <flatbuffers/reflection.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/inspect/describe.h"
#include "conformance/text/printable.h"

namespace assay::inspect {
namespace {

using format::xnnpack::PayloadView;
using reflection::BaseType;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t most_elements = 16;  // of a list that is shown

std::string joined(const auto& items) {
  return fmt::format("{}{}", fmt::join(items.first(std::min(most_elements, items.size())), ","),
                     items.size() > most_elements ? ",..." : "");
}

// The table of a member of a union, in the schema's reflection.
const reflection::Object& member_of(std::string_view name, int tag) {
  const reflection::Schema& schema = *reflection::GetSchema(format::xnnpack_kind.reflection());
  const auto* type = schema.enums()->LookupByKey(fmt::format("assay.xnn.{}", name).c_str());
  const int index = type->values()->LookupByKey(tag)->union_type()->index();
  return *schema.objects()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

std::string field_text(const flatbuffers::Table& table, const reflection::Field& f) {
  const BaseType type = f.type()->base_type();
  if (type != BaseType::Vector)
    return type == BaseType::Float ? fmt::format("{}", flatbuffers::GetAnyFieldF(table, f))
                                   : fmt::format("{}", flatbuffers::GetAnyFieldI(table, f));
  const auto* list = flatbuffers::GetFieldAnyV(table, f);
  if (!list) return "[]";
  if (f.type()->element() == BaseType::Float) {
    const auto* floats = table.GetPointer<const flatbuffers::Vector<float>*>(f.offset());
    return fmt::format("[{}]", joined(format::items(floats)));
  }
  if (f.type()->element() == BaseType::UShort)
    return fmt::format("[{} numbers]", table.GetPointer<const flatbuffers::Vector<std::uint16_t>*>(f.offset())->size());
  return fmt::format("[{}]",
                     joined(format::items(table.GetPointer<const flatbuffers::Vector<std::uint32_t>*>(f.offset()))));
}

// The fields of a table, in the order of the schema, for which `shown` holds.
Fields fields_of(const reflection::Object& type, const void* table, auto shown) {
  std::vector<const reflection::Field*> all(type.fields()->begin(), type.fields()->end());
  std::ranges::sort(all, {}, &reflection::Field::id);
  Fields fields;
  for (const auto* f : all)
    if (shown(*f))
      fields.emplace_back(f->name()->str(), field_text(*static_cast<const flatbuffers::Table*>(table), *f));
  return fields;
}

bool is_operand(const reflection::Field& f) {
  constexpr std::string_view names[] = {"input",  "input1", "input2", "input3", "input4", "input5", "filter", "bias",
                                        "output", "index",  "query",  "key",    "value",  "scale",  "mask"};
  return f.type()->base_type() == BaseType::UInt &&
         std::ranges::find(names, f.name()->string_view()) != std::end(names);
}

std::string joined_fields(const Fields& fields) {
  std::string all;
  for (const auto& [name, text] : fields) all += fmt::format("  {}={}", name, text);
  return all;
}

std::string constant_text(const PayloadView& payload, std::uint32_t index) {
  if (index >= format::xnnpack::constant_count(payload)) return fmt::format("constant {}, which does not exist", index);
  if (const auto name = format::xnnpack::constant_name(payload, index); !name.empty())
    return fmt::format("named data {}, {} bytes", text::in_quotes(name),
                       payload.tables->constants()->Get(index)->size());
  const auto bytes = format::xnnpack::constant_bytes(payload, index, nullptr);
  return bytes ? fmt::format("constant {}, {} bytes", index, bytes->size())
               : fmt::format("constant {}, outside of the payload", index);
}

std::string operands_text(const format::xnnpack::Operands& operands) {
  std::string all;
  for (const format::xnnpack::Operand& o : operands) all += fmt::format("  {}=%{}", o.name, o.id);
  return all;
}

std::string bounds_text(const xnn::Node& node) {
  const auto [least, most] = format::xnnpack::bounds_of(node);
  return node.bounds() ? fmt::format("  bounds=[{},{}]", least, most) : "";
}

text::Json json_of(const Fields& fields) {
  text::Json json = text::Json::object();
  for (const auto& [name, text] : fields) json[name] = text;
  return json;
}

text::Json json_of(const format::xnnpack::Operands& operands) {
  text::Json json = text::Json::object();
  for (const format::xnnpack::Operand& o : operands) json[std::string(o.name)] = o.id;
  return json;
}

}  // namespace

GraphValue graph_value(const PayloadView& payload, std::uint32_t index) {
  const xnn::Value& value = *payload.tables->values()->Get(index);
  const xnn::Tensor& t = format::xnnpack::tensor_of(value);
  const auto* type = format::xnnpack::find_datatype(t.datatype());
  GraphValue facts{
      t.id(), type ? std::string(type->name) : fmt::format("datatype {}", t.datatype()), format::items(t.dims()), {}};
  if (const auto* quantized = value.content_as_QuantizedTensor()) {
    facts.quantization = EnumNameParameters(quantized->parameters_type());
    facts.parameters = fields_of(member_of("Parameters", static_cast<int>(quantized->parameters_type())),
                                 quantized->parameters(), [](const auto&) { return true; });
    if (const auto scales = format::xnnpack::scales_of(value); scales && scales->list.empty())
      facts.parameters.emplace_back("scales_from", constant_text(payload, scales->constant));
  }
  facts.source =
      t.constant() > 0 ? constant_text(payload, t.constant())
      : !format::xnnpack::is_external(t)
          ? "a node"
          : fmt::format("argument {}, {}", t.external(), t.flags() & format::xnnpack::input_flag ? "input" : "output");
  return facts;
}

std::string short_text(const GraphValue& value) { return fmt::format("{}[{}]", value.datatype, joined(value.dims)); }

Fields node_parameters(const xnn::Node& node) {
  return fields_of(member_of("Operation", static_cast<int>(node.operation_type())), node.operation(),
                   [](const reflection::Field& f) {
                     return !is_operand(f) && f.name()->string_view() != "flags" && f.name()->string_view() != "rank";
                   });
}

void write_graph(const PayloadView& payload, std::string_view indent, text::Output& out) {
  for (std::uint32_t i = 0; i < format::size_of(payload.tables->values()); ++i) {
    const GraphValue v = graph_value(payload, i);
    out.print("{}{:<6}{:<28}{}{}{}\n", indent, fmt::format("%{}", v.id), short_text(v), v.source,
              v.quantization.empty() ? "" : fmt::format(", {}", v.quantization), joined_fields(v.parameters));
  }
  for (std::uint32_t i = 0; i < format::size_of(payload.tables->nodes()); ++i) {
    const xnn::Node& node = *payload.tables->nodes()->Get(i);
    const auto [inputs, outputs] = format::xnnpack::operands_of(node);
    const std::uint32_t flags = format::xnnpack::flags_of(node);
    out.print("{}{:>4}  {}{}  ->{}{}{}{}\n", indent, i, format::xnnpack::kind_name(node), operands_text(inputs),
              operands_text(outputs), joined_fields(node_parameters(node)), bounds_text(node),
              flags == 0 ? "" : fmt::format("  flags={}", flags));
  }
}

void write_graph(const PayloadView& payload, text::JsonOutput& out) {
  out.list("values", [&] {
    for (std::uint32_t i = 0; i < format::size_of(payload.tables->values()); ++i) {
      const GraphValue v = graph_value(payload, i);
      text::Json json{{"id", v.id}, {"datatype", v.datatype}};
      json["dims"] = text::Json::array();
      for (const std::uint32_t n : v.dims) json["dims"].push_back(n);
      json["source"] = v.source;
      if (!v.quantization.empty())
        json["quantization"] = {{"kind", v.quantization}, {"parameters", json_of(v.parameters)}};
      out.value(json);
    }
  });
  out.list("nodes", [&] {
    for (std::uint32_t i = 0; i < format::size_of(payload.tables->nodes()); ++i) {
      const xnn::Node& node = *payload.tables->nodes()->Get(i);
      const auto [inputs, outputs] = format::xnnpack::operands_of(node);
      text::Json json{{"index", i},
                      {"kind", format::xnnpack::kind_name(node)},
                      {"inputs", json_of(inputs)},
                      {"outputs", json_of(outputs)},
                      {"parameters", json_of(node_parameters(node))},
                      {"flags", format::xnnpack::flags_of(node)},
                      {"debug_handle", node.debug_handle()}};
      if (node.bounds()) {
        const auto [least, most] = format::xnnpack::bounds_of(node);
        json["bounds"] = {fmt::format("{}", least), fmt::format("{}", most)};
      }
      out.value(json);
    }
  });
}

void with_graph(const format::ProgramView& program, const pte::BackendDelegate& delegate,
                const std::function<void(const PayloadView&)>& take) {
  if (format::kind_of_payload(format::text_of(delegate.id())) != &format::xnnpack_kind) return;
  if (!payload_bytes(program, delegate)) return;
  const auto opened = open_as(borrowed(format::payload(program, delegate)), format::xnnpack_kind);
  if (opened) take(PayloadView(opened->view()));
}

void write_payload(const Described& f, text::Output& out) { write_graph(PayloadView(f.view), "  ", out); }
void write_payload(const Described& f, text::JsonOutput& out) { write_graph(PayloadView(f.view), out); }

}  // namespace assay::inspect
