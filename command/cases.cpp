#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/libraries.h"
#include "conformance/cases/call_coverage.h"
#include "conformance/cases/case.h"
#include "conformance/text/arguments.h"
#include "conformance/text/json.h"
#include "conformance/text/literal.h"
#include "conformance/text/printable.h"

namespace assay {
namespace {

struct CasesCommand {
  std::string operators, golden;
  bool json = false;
};

struct Text {
  std::string_view name;
  std::string text;
};

std::vector<Text> inputs(const Operator& op, const RecordedCall& call) {
  std::vector<Text> texts;
  for (std::size_t i = 0; i < input_count(op); ++i)
    texts.push_back({op.arguments[i].name, literal(call.arguments[i], op.arguments[i].type)});
  return texts;
}

// The outs as --out takes them, if the call is another one without them: the entry gives other outs, or refuses only
// these.
std::vector<Text> given_outs(const Operator& op, const RecordedCall& call) {
  std::vector<Value> arguments = call.arguments;
  for (std::size_t i = input_count(op); i < arguments.size(); ++i) arguments[i] = std::monostate{};
  if (assay::call(op, arguments).outcome != Outcome::ok) return {};
  std::vector<Text> texts;
  bool differ = call.refused;
  for (std::size_t i = input_count(op); i < arguments.size(); ++i) {
    const Tensor* given = std::get_if<Tensor>(&call.arguments[i]);
    const Tensor* own = std::get_if<Tensor>(&arguments[i]);
    if (!given || !own) return {};
    differ = differ || given->dtype != own->dtype || given->dim_order != own->dim_order;
    texts.push_back({op.arguments[i].name, out_literal(*given)});
  }
  return differ ? texts : std::vector<Text>{};
}

std::vector<Text> results(const Operator& op, const RecordedCall& call) {
  std::vector<Text> texts;
  for (std::size_t i = 0; i < call.results.size(); ++i)
    texts.push_back({op.arguments[std::min(input_count(op) + i, op.arguments.size() - 1)].name,
                     call.has_values ? literal(call.results[i]) : describe(call.results[i])});
  return texts;
}

std::string first_line(const std::string& text) { return printable(text.substr(0, text.find('\n'))); }

Json to_json(const std::vector<Text>& texts) {
  Json list = Json::array();
  for (const Text& t : texts) list.push_back({{"name", t.name}, {"text", t.text}});
  return list;
}

Json to_json(const Operator& op, const CallExample& e) {
  Json json{{"case", to_text(CaseId{std::string(op.name), e.digest, {}})}, {"inputs", to_json(inputs(op, e.call))}};
  if (const auto outs = given_outs(op, e.call); !outs.empty()) json["outs"] = to_json(outs);
  json["outcome"] = name(e.answer.outcome);
  if (!e.call.refused) {
    json["results"] = to_json(results(op, e.call));
    return json;
  }
  json["rule"] = e.answer.rule, json["message"] = e.answer.message, json["eager"] = first_line(e.call.refusal);
  return json;
}

Json to_json(const Operator& op, const CallCoverage& c) {
  Json examples = Json::array();
  for (const CallExample& e : c.examples) examples.push_back(to_json(op, e));
  return {{"operator", op.name},    {"calls", c.calls},
          {"refused", c.refused},   {"dtypes", c.dtypes},
          {"layouts", c.layouts},   {"largest_result", c.largest_result},
          {"rules", Json(c.rules)}, {"examples", std::move(examples)}};
}

void print(const Operator& op, const CallExample& e) {
  std::cout << "  " << to_text(CaseId{std::string(op.name), e.digest, {}}) << '\n';
  for (const Text& t : inputs(op, e.call)) std::cout << fmt::format("    {:<12} {}\n", t.name, t.text);
  for (const Text& t : given_outs(op, e.call)) std::cout << fmt::format("    {:<12} given as {}\n", t.name, t.text);
  for (const Text& t : results(op, e.call)) std::cout << fmt::format("    = {:<10} {}\n", t.name, t.text);
  if (e.call.refused)
    std::cout << fmt::format("    {}, {}: {}\n", name(e.answer.outcome), e.answer.rule, e.answer.message);
}

void print(const Operator& op, const CallCoverage& c) {
  std::cout << fmt::format("{}: {} calls, {} of them refused; results of up to {} elements\n", op.name, c.calls,
                           c.refused, c.largest_result)
            << fmt::format("  {}; {} dim orders\n", fmt::join(c.dtypes, ", "), c.layouts.size());
  for (const auto& [rule, calls] : c.rules) std::cout << fmt::format("  {} refused by {}\n", calls, rule);
  for (const CallExample& e : c.examples) print(op, e);
}

int list(const CasesCommand& request) {
  const Corpus corpus(golden_folder(request.golden));
  for (const RecordedCalls* calls : corpus.matching(request.operators)) {
    const CallCoverage c = call_coverage(*calls);
    if (request.json)
      std::cout << line_of(to_json(calls->op(), c)) << '\n';
    else
      print(calls->op(), c);
  }
  return exit_code(Outcome::ok);
}

void define_cases(Options& options) {
  const auto r = std::make_shared<CasesCommand>();
  options.add("OPERATORS", r->operators,
              "Names or patterns of operators, separated by commas, such as 'add*,mul'; default: all operators");
  options.add("--golden", r->golden, golden_help).value("FOLDER");
  options.flag("--json", r->json, "Prints a line of JSON for each operator");
  options.details(
      "The examples are the shortest calls that eager PyTorch answered and, for each rule, the shortest call that it "
      "refused.");
  options.action([r] { return list(*r); });
}

const Registered registered_cases({"cases",
                                   Group::reference,
                                   "Summarizes the recorded calls of operators, and shows examples",
                                   define_cases,
                                   {{"assay cases 'add*'", "summarizes all operators whose name begins with add"}}});

}  // namespace
}  // namespace assay
