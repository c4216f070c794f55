#include "conformance/text/oracle.h"

#include <istream>
#include <new>
#include <ostream>

#include "conformance/text/arguments.h"
#include "conformance/text/malformed.h"

namespace assay {
namespace {

constexpr std::string_view json_rule = "call.json";

// The id, if it is one; what is wrong with it is said by check_id.
Json id_in(const Json& request) {
  const auto id = request.is_object() ? request.find("id") : request.end();
  const bool readable = id != request.end() && (id->is_string() || id->is_number_integer());
  return readable ? *id : Json(nullptr);
}

void check_id(const Json& request) {
  well_formed(!request.contains("id") || request["id"].is_null() || !id_in(request).is_null(), json_rule,
              "id must be an integer or a string");
}

const Operator& operator_in(const Json& request) {
  const auto name = request.find("operator");
  well_formed(name != request.end() && name->is_string(), json_rule, "key \"operator\" must be the name of one");
  return operator_named(name->get_ref<const std::string&>());
}

std::vector<Value> arguments_in(const Json& request, const Operator& op) {
  const auto args = request.find("args");
  well_formed(args != request.end() && args->is_array(), json_rule, "key \"args\" must be a list");
  well_formed(args->size() <= input_count(op), "call.argument", op.name, " takes ", input_count(op), " arguments, but ",
              args->size(), " came");
  std::vector<Value> arguments;
  arguments.reserve(op.arguments.size());
  for (const Json& json : *args) {
    const SchemaArgument& a = op.arguments[arguments.size()];
    arguments.push_back(within([&] { return value_of(json, a.type); }, a.name));
  }
  complete(op, arguments);
  return arguments;
}

void set_outs(const Json& request, const Operator& op, std::vector<Value>& arguments) {
  const auto outs = request.find("out");
  if (outs == request.end()) return;
  well_formed(outs->is_array() && outs->size() == op.outs(), "call.out", "out must be a list of ", op.outs(),
              " entries, one for each out argument");
  for (std::size_t i = 0; i < outs->size(); ++i) {
    const std::size_t at = input_count(op) + i;
    well_formed((*outs)[i].is_null() || !op.arguments[at].is_out_number(), "call.out", op.arguments[at].name,
                " is a number, of which nothing can be asked: give null");
    arguments[at] = within([&] { return out_of((*outs)[i]); }, op.arguments[at].name);
  }
}

void set_limit(const Json& limits, std::string_view key, Int& limit) {
  const auto given = limits.find(key);
  if (given == limits.end()) return;
  const bool whole = given->is_number_unsigned() && std::in_range<Int>(given->get<Bits>());
  well_formed(whole, "call.limits", key, " must be an integer from 0 to 2^63 - 1");
  limit = given->get<Int>();
}

Budget budget_in(const Json& request) {
  Budget::Limits limits;
  if (!request.contains("limits")) return Budget(limits);
  check_keys(request["limits"], {"bytes", "work"}, "call.limits");
  set_limit(request["limits"], "bytes", limits.bytes);
  set_limit(request["limits"], "work", limits.work);
  return Budget(limits);
}

Json answered(const Json& id, const Json& request) {
  check_keys(request, {"id", "operator", "args", "out", "limits"}, json_rule);
  check_id(request);
  const Operator& op = operator_in(request);
  std::vector<Value> arguments = arguments_in(request, op);
  set_outs(request, op, arguments);
  const Answer answer = call(op, arguments, budget_in(request));
  return answer_json(id, answer, std::span(arguments).subspan(input_count(op)));
}

}  // namespace

Json answer_json(const Json& id, const Answer& answer, std::span<const Value> outs) {
  if (answer.outcome != Outcome::ok)
    return {{"id", id}, {"outcome", name(answer.outcome)}, {"rule", answer.rule}, {"message", answer.message}};
  Json outputs = Json::array();
  for (const Value& out : outs) {
    if (const Tensor* t = std::get_if<Tensor>(&out)) outputs.push_back(to_json(*t));
    if (const Tensors* list = std::get_if<Tensors>(&out))
      for (const auto& t : *list) outputs.push_back(t ? to_json(*t) : Json(nullptr));
    if (number_in(out)) outputs.push_back(to_json(out, ""));
  }
  return {{"id", id}, {"outcome", name(answer.outcome)}, {"outputs", std::move(outputs)}};
}

std::string answer_line(std::string_view request) {
  Json id;
  try {
    const Json json = parse_json(request);
    id = id_in(json);
    return line_of(answered(id, json));
  } catch (const Fault& fault) {
    return line_of(answer_json(id, answer_of(fault), {}));
  } catch (const std::bad_alloc&) {
    return line_of(answer_json(
        id, {Outcome::exhausted, "limits.memory", "the machine has no memory left for this call", {}, 1}, {}));
  }
}

void answer_lines(std::istream& requests, std::ostream& answers) {
  for (std::string request; answers && std::getline(requests, request);)
    answers << answer_line(request) << '\n' << std::flush;
}

}  // namespace assay
