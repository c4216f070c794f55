#include "fuzz/mutator/call_mutator.h"

#include "conformance/cases/mutation.h"
#include "conformance/text/arguments.h"
#include "conformance/text/call_json.h"
#include "fuzz/mutator/bytes.h"
#include "fuzz/mutator/json_mutator.h"

namespace assay::fuzz {
namespace {

Mutation some_mutation(Random& random) {
  const auto number = [&] { return static_cast<Int>(random.below(1000)); };
  return {static_cast<Mutation::Kind>(random.below(special_mutation_kinds)), {number(), number(), number()}};
}

// A tensor without elements may have any other sizes.
void empty(Tensor& tensor, Random& random) {
  constexpr Int large[] = {1, 7, 1 << 20, 0x7FFFFFFE, 0x7FFFFFFF, Int{1} << 31, Int{1} << 40, 0x7FFFFFFFFFFFFFFF};
  if (tensor.rank() == 0) return;
  for (Int& n : tensor.sizes)
    if (random.one_in(2)) n = random.of(large);
  tensor.sizes[static_cast<int>(random.below(static_cast<std::size_t>(tensor.rank())))] = 0;
  tensor.bytes.clear();
}

void change(Value& value, Random& random) {
  if (Tensor* t = std::get_if<Tensor>(&value)) return empty(*t, random);
  if (Int* n = std::get_if<Int>(&value)) *n = another_number(*n, random);
  if (double* d = std::get_if<double>(&value)) *d = another_real(*d, random);
  if (Ints* list = std::get_if<Ints>(&value); list && !list->empty()) {
    Int& n = random.of(*list);
    n = another_number(n, random);
  }
  if (Tensors* list = std::get_if<Tensors>(&value); list && !list->empty())
    if (auto& t = random.of(*list)) empty(*t, random);
}

const Operator& similar(const Operator& op, Random& random) {
  const auto types = [](const Operator& o) {
    std::string all;
    for (const SchemaArgument& a : o.arguments) all += text(a.type, a.out, ' ');
    return all;
  };
  std::vector<const Operator*> choices;
  for (const Operator& o : operator_table())
    if (types(o) == types(op)) choices.push_back(&o);
  return *random.of(choices);
}

// Recorded calls are small, and so is what their mutations make of small ones.
bool is_small(const Tensor& t) {
  return std::ranges::all_of(t.sizes, [](Int n) { return n <= 64; });
}
bool is_small(const Value& value) {
  const auto* list = std::get_if<Tensors>(&value);
  const auto* tensor = std::get_if<Tensor>(&value);
  return list ? std::ranges::all_of(*list, [](const auto& t) { return !t || is_small(*t); })
              : !tensor || is_small(*tensor);
}

void change(CallRequest& request, Random& random) {
  if (random.one_in(12)) return void(request.op = &similar(*request.op, random));
  const bool small = std::ranges::all_of(request.arguments, [](const Value& v) { return is_small(v); });
  if (!small || random.one_in(4)) return change(random.of(request.arguments), random);
  request.arguments = mutated(*request.op, std::move(request.arguments), some_mutation(random));
}

// What an out argument has before the call: not its data.
Json out_json(const Value& value) {
  Json json = number_in(value) ? Json(nullptr) : to_json(value, "");
  if (json.is_object()) json.erase("data");
  if (json.contains("tensors"))
    for (Json& t : json["tensors"])
      if (t.is_object()) t.erase("data");
  return json;
}

}  // namespace

std::string line_of(const CallRequest& request) {
  const Operator& op = *request.op;
  Json args = Json::array(), outs = Json::array();
  for (std::size_t i = 0; i < op.arguments.size(); ++i)
    if (op.arguments[i].out)
      outs.push_back(out_json(request.arguments[i]));
    else
      args.push_back(to_json(request.arguments[i], op.arguments[i].type));
  return assay::line_of(Json{{"operator", op.name}, {"args", args}, {"out", outs}});
}

void mutate_request(std::string& line, Random& random) {
  if (random.one_in(4)) return mutate_json(line, random);
  try {
    CallRequest request = request_in(parse_json(line));
    for (std::size_t n = 1 + random.few(3); n > 0; --n) change(request, random);
    line = line_of(request);
  } catch (const Fault&) {
    mutate_json(line, random);
  }
}

void mutate_json(std::string& text, Random& random) {
  if (random.one_in(6)) return mutate_bytes(text, random);
  try {
    Json json = parse_json(text);
    for (std::size_t n = 1 + random.few(3); n > 0; --n) mutate(json, random);
    text = assay::line_of(json);
  } catch (const Fault&) {
    mutate_bytes(text, random);
  }
}

}  // namespace assay::fuzz
