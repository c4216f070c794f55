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

namespace assay::command {
namespace {

struct CasesCommand {
  std::string operators, golden;
  bool json = false;
};

struct Text {
  std::string_view name;
  std::string text;
};

std::vector<Text> inputs(const Operator& op, const cases::RecordedCall& call) {
  std::vector<Text> texts;
  for (std::size_t i = 0; i < text::input_count(op); ++i)
    texts.push_back({op.arguments[i].name, text::literal(call.arguments[i], op.arguments[i].type)});
  return texts;
}

// The outs as --out takes them, if the call is another one without them: the entry gives other outs, or refuses only
// these.
std::vector<Text> given_outs(const Operator& op, const cases::RecordedCall& call) {
  std::vector<Value> arguments = call.arguments;
  for (std::size_t i = text::input_count(op); i < arguments.size(); ++i) arguments[i] = std::monostate{};
  if (assay::call(op, arguments).outcome != Outcome::ok) return {};
  std::vector<Text> texts;
  bool differ = call.refused;
  for (std::size_t i = text::input_count(op); i < arguments.size(); ++i) {
    const Tensor* given = std::get_if<Tensor>(&call.arguments[i]);
    const Tensor* own = std::get_if<Tensor>(&arguments[i]);
    if (!given || !own) return {};
    differ = differ || given->dtype != own->dtype || given->dim_order != own->dim_order;
    texts.push_back({op.arguments[i].name, text::out_literal(*given)});
  }
  return differ ? texts : std::vector<Text>{};
}

std::vector<Text> results(const Operator& op, const cases::RecordedCall& call) {
  std::vector<Text> texts;
  for (std::size_t i = 0; i < call.results.size(); ++i)
    texts.push_back({op.arguments[std::min(text::input_count(op) + i, op.arguments.size() - 1)].name,
                     call.has_values ? text::literal(call.results[i]) : describe(call.results[i])});
  return texts;
}

std::string first_line(const std::string& text) { return text::printable(text.substr(0, text.find('\n'))); }

text::Json to_json(const std::vector<Text>& texts) {
  text::Json list = text::Json::array();
  for (const Text& t : texts) list.push_back({{"name", t.name}, {"text", t.text}});
  return list;
}

text::Json to_json(const Operator& op, const cases::CallExample& e) {
  text::Json json{{"case", cases::to_text(cases::CaseId{std::string(op.name), e.digest, {}})},
                  {"inputs", to_json(inputs(op, e.call))}};
  if (const auto outs = given_outs(op, e.call); !outs.empty()) json["outs"] = to_json(outs);
  json["outcome"] = name(e.answer.outcome);
  if (!e.call.refused) {
    json["results"] = to_json(results(op, e.call));
    return json;
  }
  json["rule"] = e.answer.rule, json["message"] = e.answer.message, json["eager"] = first_line(e.call.refusal);
  return json;
}

struct Made {  // the cases that are kept beside the recorded calls
  std::size_t count;
  std::string coverage;
};

text::Json to_json(const Operator& op, const cases::CallCoverage& c, const Made& made) {
  text::Json examples = text::Json::array();
  for (const cases::CallExample& e : c.examples) examples.push_back(to_json(op, e));
  return {{"operator", op.name},          {"calls", c.calls},
          {"refused", c.refused},         {"dtypes", c.dtypes},
          {"layouts", c.layouts},         {"largest_result", c.largest_result},
          {"rules", text::Json(c.rules)}, {"examples", std::move(examples)},
          {"made", made.count},           {"coverage", made.coverage}};
}

void print(const Operator& op, const cases::CallExample& e) {
  std::cout << "  " << cases::to_text(cases::CaseId{std::string(op.name), e.digest, {}}) << '\n';
  for (const Text& t : inputs(op, e.call)) std::cout << fmt::format("    {:<12} {}\n", t.name, t.text);
  for (const Text& t : given_outs(op, e.call)) std::cout << fmt::format("    {:<12} given as {}\n", t.name, t.text);
  for (const Text& t : results(op, e.call)) std::cout << fmt::format("    = {:<10} {}\n", t.name, t.text);
  if (e.call.refused)
    std::cout << fmt::format("    {}, {}: {}\n", name(e.answer.outcome), e.answer.rule, e.answer.message);
}

void print(const Operator& op, const cases::CallCoverage& c, const Made& made) {
  std::cout << fmt::format("{}: {} calls, {} of them refused; results of up to {} elements\n", op.name, c.calls,
                           c.refused, c.largest_result)
            << fmt::format("  {}; {} dim orders\n", fmt::join(c.dtypes, ", "), c.layouts.size());
  for (const auto& [rule, calls] : c.rules) std::cout << fmt::format("  {} refused by {}\n", calls, rule);
  if (made.count > 0) std::cout << fmt::format("  {} made cases; with them {}\n", made.count, made.coverage);
  for (const cases::CallExample& e : c.examples) print(op, e);
}

int list(const CasesCommand& request) {
  const cases::Corpus corpus(golden_folder(request.golden));
  for (const cases::RecordedCalls* calls : corpus.matching(request.operators)) {
    const cases::CallCoverage c = cases::call_coverage(*calls);
    const std::string_view op = calls->op().name;
    const Made made{corpus.made_cases(op).size(), corpus.coverage(op)};
    if (request.json)
      std::cout << text::line_of(to_json(calls->op(), c, made)) << '\n';
    else
      print(calls->op(), c, made);
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
      "For each operator, the examples are the shortest calls that eager PyTorch answered. For each rule, another "
      "example is\nthe shortest call that breaks the rule and that eager PyTorch refused.");
  options.action([r] { return list(*r); });
}

const Registered registered_cases({"cases",
                                   Group::reference,
                                   "Summarizes the recorded calls of operators, and shows examples",
                                   define_cases,
                                   {{"assay cases 'add*'", "summarizes all operators whose name begins with add"}}});

}  // namespace
}  // namespace assay::command
