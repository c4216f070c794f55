#include "conformance/reproduce/call_program.h"
#include "conformance/reproduce/kinds.h"
#include "conformance/text/oracle.h"

// The kinds that are data.
namespace assay {
namespace {

Json layout_json(const Tensor& t) {
  Json json = to_json(Tensor{t.dtype, t.sizes, t.dim_order, {}});
  json.erase("data");
  return json;
}

// Of a number nothing can be asked.
Json out_json(const SchemaArgument& argument, const Value& out) {
  if (const Tensors* list = std::get_if<Tensors>(&out)) {
    Json tensors = Json::array();
    for (const auto& t : *list) tensors.push_back(layout_json(*t));
    return {{"tensors", std::move(tensors)}};
  }
  const Tensor* t = std::get_if<Tensor>(&out);
  return t && !argument.is_out_number() ? layout_json(*t) : Json(nullptr);
}

}  // namespace

std::string bpte_reproduction(const Reproduced& call) {
  const Bytes bytes = encode(bundle_of_call(call.op(), call.host.arguments));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string json_reproduction(const Reproduced& call) {
  const std::string id = to_text(call.c.id);
  Json args = Json::array(), outs = Json::array();
  for (std::size_t i = 0; i < call.host.arguments.size(); ++i) {
    const SchemaArgument& a = call.op().arguments[i];
    const Value& value = call.host.arguments[i];
    a.out ? outs.push_back(out_json(a, value)) : args.push_back(to_json(value, a.type));
  }
  const Json request = {{"id", id}, {"operator", call.op().name}, {"args", std::move(args)}, {"out", std::move(outs)}};
  const Json answer = answer_json(id, call.host.expected.answer, std::span(call.host.arguments).last(call.op().outs()));
  return line_of({{"request", request}, {"answer", answer}}) + '\n';
}

}  // namespace assay
