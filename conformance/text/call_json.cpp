#include "conformance/text/call_json.h"

#include <algorithm>
#include <array>
#include <istream>
#include <new>
#include <ostream>

#include "conformance/text/arguments.h"
#include "conformance/text/malformed.h"

namespace assay {
namespace {

constexpr std::string_view request_rule = "call.json";

// The id of a request; null if it is missing or not valid. check_id reports an invalid id.
Json id_in(const Json& request) {
  const auto id = request.is_object() ? request.find("id") : request.end();
  const bool readable = id != request.end() && (id->is_string() || id->is_number_integer());
  return readable ? *id : Json(nullptr);
}

void check_id(const Json& request) {
  well_formed(!request.contains("id") || request["id"].is_null() || !id_in(request).is_null(), request_rule,
              "id must be an integer or a string");
}

const Operator& operator_in(const Json& request) {
  const auto name = request.find("operator");
  well_formed(name != request.end() && name->is_string(), request_rule, "key \"operator\" must be the name of one");
  return operator_named(name->get_ref<const std::string&>());
}

std::vector<Value> arguments_in(const Json& request, const Operator& op) {
  const auto args = request.find("args");
  well_formed(args != request.end() && args->is_array(), request_rule, "key \"args\" must be a list");
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

// Lowers a limit to what the request states. A request cannot raise a limit.
void lower(const Json& limits, std::string_view key, Int& limit) {
  const auto given = limits.find(key);
  if (given == limits.end()) return;
  const bool whole = given->is_number_unsigned() && std::in_range<Int>(given->get<Bits>());
  well_formed(whole, "call.limits", key, " must be an integer from 0 to 2^63 - 1");
  limit = std::min(limit, given->get<Int>());
}

Budget budget_in(const Json& request, Budget::Limits limits) {
  if (!request.contains("limits")) return Budget(limits);
  check_keys(request["limits"], {"bytes", "work"}, "call.limits");
  lower(request["limits"], "bytes", limits.bytes);
  lower(request["limits"], "work", limits.work);
  return Budget(limits);
}

Json layout_json(const Tensor& t) {
  Json json = to_json(Tensor{t.dtype, t.sizes, t.dim_order, {}});
  json.erase("data");
  return json;
}

// An out that is a number is null, because a request can ask nothing of it.
Json out_json(const SchemaArgument& argument, const Value& out) {
  if (const Tensors* list = std::get_if<Tensors>(&out)) {
    Json tensors = Json::array();
    for (const auto& t : *list) tensors.push_back(layout_json(*t));
    return {{"tensors", std::move(tensors)}};
  }
  const Tensor* t = std::get_if<Tensor>(&out);
  return t && !argument.is_out_number() ? layout_json(*t) : Json(nullptr);
}

// Charges the text of the outs before it is made: three copies, as base64 of their bytes, as JSON and as the line.
void charge_outs(std::span<const Value> outs, const Budget& budget) {
  const auto charge = [&](const Tensor& t) {
    const Int text = static_cast<Int>(t.bytes.size() / 3 + 1) * 4;
    budget.print(text, "the answer");
    budget.take(3 * text, "the answer");
  };
  for (const Value& out : outs) {
    if (const Tensor* t = std::get_if<Tensor>(&out)) charge(*t);
    if (const Tensors* list = std::get_if<Tensors>(&out))
      for (const auto& t : *list)
        if (t) charge(*t);
  }
}

// Reads lines. Keeps no more of a line than fits the limits.
class Lines {
 public:
  Lines(std::istream& in, const Budget::Limits& most)
      : in_(in), longest_(static_cast<std::size_t>(most.bytes / 4)), most_(most) {}

  bool next() {
    line_.clear(), too_long_ = false;
    Budget budget(most_);
    while (in_.getline(chunk_.data(), static_cast<std::streamsize>(chunk_.size())) || in_.gcount() > 0) {
      const bool ended = !in_.fail();
      add({chunk_.data(), static_cast<std::size_t>(in_.gcount()) - (ended && !in_.eof())}, budget);
      if (ended) return true;
      in_.clear();  // the chunk is full, but the line continues
    }
    return false;
  }
  std::string_view line() const { return line_; }
  bool too_long() const { return too_long_; }
  std::size_t longest() const { return longest_; }

 private:
  void add(std::string_view part, const Budget& budget) {
    too_long_ = too_long_ || part.size() > longest_ - line_.size();
    if (too_long_)
      budget.work(static_cast<Int>(part.size()), "a line without end");
    else
      line_ += part;
  }

  std::istream& in_;
  std::size_t longest_;
  Budget::Limits most_;
  std::array<char, 1 << 16> chunk_;
  std::string line_;
  bool too_long_ = false;
};

}  // namespace

CallRequest request_in(const Json& request, const Budget& budget) {
  check_keys(request, {"id", "operator", "args", "out", "limits"}, request_rule);
  check_id(request);
  const Operator& op = operator_in(request);
  std::vector<Value> arguments = arguments_in(request, op);
  set_outs(request, op, arguments);
  return {&op, std::move(arguments), budget_in(request, budget.left())};
}

Json request_json(const Json& id, const Operator& op, std::span<const Value> arguments) {
  Json args = Json::array(), outs = Json::array();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const SchemaArgument& a = op.arguments[i];
    a.out ? outs.push_back(out_json(a, arguments[i])) : args.push_back(to_json(arguments[i], a.type));
  }
  return {{"id", id}, {"operator", op.name}, {"args", std::move(args)}, {"out", std::move(outs)}};
}

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

std::string answer_line(std::string_view line, const Budget::Limits& most) {
  Json id;
  try {
    const Budget budget(most);
    const Budget::Scope scope(budget, "a request");
    budget.take(static_cast<Int>(line.size()), "a request");
    const Json json = parse_json(line, budget);
    id = id_in(json);
    CallRequest request = request_in(json, budget);
    const Answer answer = call(*request.op, request.arguments, request.budget);
    const auto outs = std::span(request.arguments).subspan(input_count(*request.op));
    if (answer.outcome == Outcome::ok) charge_outs(outs, budget);
    return line_of(answer_json(id, answer, outs));
  } catch (const Fault& fault) {
    return line_of(answer_json(id, answer_of(fault), {}));
  } catch (const std::bad_alloc&) {
    return line_of(
        answer_json(id, {Outcome::exhausted, "limits.memory", "the machine has no memory left for this call", {}}, {}));
  }
}

void answer_lines(std::istream& requests, std::ostream& answers, const Budget::Limits& most) {
  Lines lines(requests, most);
  while (answers && lines.next()) {
    const Fault longer(Outcome::exhausted, "limits.memory", text("a line has more than ", lines.longest(), " bytes"));
    answers << (lines.too_long() ? line_of(answer_json(nullptr, answer_of(longer), {}))
                                 : answer_line(lines.line(), most))
            << '\n'
            << std::flush;
  }
}

}  // namespace assay
