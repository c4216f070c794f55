#include "conformance/programs/describe.h"
#include "conformance/programs/fault_json.h"

namespace assay {
namespace {

Json list(const auto& items, auto f) {
  Json all = Json::array();
  for (const auto& item : items) all.push_back(f(item));
  return all;
}

// A number of bytes, which in a program that is not valid may be beyond every integer.
Json whole(double n) { return n < 0x1p63 ? Json(static_cast<Int>(n)) : Json(n); }

Json tensor_json(const TensorFacts& t) {
  Json json = {{"dtype", t.dtype}, {"sizes", t.sizes}, {"dim_order", t.dim_order}, {"bytes", whole(t.bytes)}};
  if (!t.where.empty())
    json.update(Json{{"dynamism", t.dynamism}, {"where", t.where}, {"state", t.state}, {"initial_value", t.initial}});
  if (!t.name.empty()) json["fully_qualified_name"] = t.name;
  if (t.memory) json.update(Json{{"memory", *t.memory}, {"offset", t.offset}});
  return json;
}

Json value_json(const ValueFacts& v) {
  Json json = {{"index", v.index}, {"kind", v.kind}};
  if (v.tensor)
    json.update(tensor_json(*v.tensor));
  else if (!v.text.empty())
    json["text"] = v.text;
  return json;
}

Json operand_json(const Operand& o) {
  constexpr std::string_view roles[] = {"input", "output", "either"};
  return {{"name", o.name}, {"value", o.value}, {"role", roles[static_cast<std::size_t>(o.role)]}};
}

Json instruction_json(const InstructionFacts& i) {
  Json json = {{"chain", i.chain},
               {"index", i.index},
               {"name", i.listed.name},
               {"operands", list(i.listed.operands, operand_json)}};
  if (i.listed.target) json["target"] = *i.listed.target;
  if (i.listed.delegate) json["delegate"] = *i.listed.delegate;
  return json;
}

Json delegate_json(const DelegateFacts& d) {
  return {{"backend", d.backend},
          {"location", d.location},
          {"bytes", d.bytes ? Json(*d.bytes) : Json(nullptr)},
          {"calls", d.calls},
          {"compile_specs", list(d.compile_specs, [](const auto& s) {
             return Json{{"key", s.first}, {"bytes", s.second}};
           })}};
}

Json memory_json(const MemoryUse& use) {
  const auto tenant = [](const Tenant& t) {
    return Json{{"value", t.value},
                {"offset", whole(t.offset)},
                {"bytes", whole(t.end - t.offset)},
                {"first", t.first},
                {"last", t.last}};
  };
  return {{"memory", use.memory},
          {"bytes", use.bytes},
          {"most_in_use", whole(use.most)},
          {"most_at", use.most_at},
          {"tensors", list(use.tenants, tenant)}};
}

Json method_json(const MethodFacts& m) {
  const auto counted = [](const auto& o) { return Json{{"name", o.first}, {"calls", o.second}}; };
  return {{"name", m.name},
          {"inputs", m.inputs},
          {"outputs", m.outputs},
          {"values", list(m.values, value_json)},
          {"operators", list(m.operators, counted)},
          {"delegates", list(m.delegates, delegate_json)},
          {"memory", list(m.memory, memory_json)},
          {"instructions", list(m.instructions, instruction_json)}};
}

Json named_json(const NamedFacts& n) {
  Json json = {{"key", n.key}, {"bytes", n.bytes}, {"segment", n.segment}};
  if (n.tensor) json["tensor"] = tensor_json(*n.tensor);
  return json;
}

Json suite_json(const SuiteFacts& s) {
  return {{"method", s.method}, {"cases", list(s.cases, [](const auto& c) {
                                   return Json{{"inputs", c.first}, {"expected_outputs", c.second}};
                                 })}};
}

}  // namespace

Json to_json(const FileFacts& f) {
  constexpr std::string_view kinds[] = {"program", "data", "bundle", "program"};
  Json json = {{"kind", kinds[static_cast<std::size_t>(f.kind)]},
               {"bytes", f.bytes},
               {"valid", f.faults.empty()},
               {"faults", list(f.faults, fault_json)}};
  if (f.kind == FileKind::bundle) json["suites"] = list(f.suites, suite_json);
  if (f.kind != FileKind::data) json["methods"] = list(f.methods, method_json);
  json["named_data"] = list(f.named, named_json);
  json["segments"] = list(f.segments, [](const SegmentFacts& s) {
    return Json{{"bytes", s.bytes}, {"holds", s.holds}};
  });
  return json;
}

}  // namespace assay
