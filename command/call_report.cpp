#include "command/call_report.h"

#include <fmt/format.h>

#include "command/command.h"
#include "command/print.h"
#include "conformance/text/fault_text.h"
#include "conformance/text/literal.h"
#include "conformance/text/printable.h"

namespace assay {
namespace {

Json comparison_json(const Comparison& c, const Tolerance& tolerance) {
  Json json = {{"agrees", c.agrees()}};
  if (c.difference.empty())
    json.update(Json{{"elements", c.elements}, {"outside", c.outside}, {"distance", to_json(Value(c.distance), {})}});
  if (c.outside > 0)
    json.update(Json{{"index", Ints(c.index.begin(), c.index.end())}, {"got", c.got}, {"want", c.want}});
  if (!c.agrees()) json["message"] = sentence(c, tolerance);
  return json;
}

Json result_json(const ProgramCall& call, const std::string& method, const CallResult& result) {
  Json json = {{"method", cut(method)}, {"agrees", result.agrees()}, {"outputs", Json::array()}};
  for (const Comparison& c : result.comparisons) json["outputs"].push_back(comparison_json(c, call.tolerance));
  if (result.violation) json.update(to_json(*result.violation));
  if (!result.mismatch.empty()) json["message"] = result.mismatch;
  if (result.refusal) json["refused"] = fault_json(*result.refusal);
  return json;
}

std::string kind_of(const Value& value) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  return tensor ? describe(*tensor) : printable(literal(value, 8), most_shown);
}

}  // namespace

Json to_json(const Violation& m) {
  return {{"verdict", name(m.verdict)}, {"class", name(m.failure)}, {"message", printable(m.message)}};
}

void write_text(const ProgramRunners& testee, Output& out) {
  for (const auto& [op, why] : testee.substituted())
    out.print("answered by the reference, not by {}: {}, {}\n", testee.testee(), op, printable(why));
  if (testee.wrong()) out.print("first wrong: {}\n", printable(sentence(*testee.wrong())));
}

void write_json(const ProgramRunners& testee, JsonOutput& out) {
  Json substituted = Json::object();
  for (const auto& [op, why] : testee.substituted()) substituted[op] = printable(why);
  if (!substituted.empty()) out.field("answered_by_reference", substituted);
  if (const auto& w = testee.wrong()) {
    Json json = {{"method", cut(w->method)}, {"instruction", w->instruction}, {"operator", w->operator_name}};
    json.update(to_json(Violation{w->judgement.verdict, w->judgement.failure, w->judgement.message}));
    json["distance"] = to_json(Value(w->judgement.distance), {});
    out.field("first_wrong", json);
  }
}

void CallReport::add(const ProgramCall& call, const std::string& method, const CallResult& result) {
  ++calls_;
  different_ += !result.agrees();
  compared_ += result.comparisons.size();
  if (options_.json)
    all_.add(result_json(call, method, result));
  else
    print(call, method, result);
  if (result.refusal && call.fails.empty() && !refusal_) refusal_ = result.refusal;
}

int CallReport::finish(const Trace& trace, const ProgramRunners& testee) const {
  if (!options_.json) {
    options_.out.print("{}{}{}{}{}\n", calls_, calls_ == 1 ? " call, " : " calls, ", compared_,
                       compared_ == 1 ? " output compared: " : " outputs compared: ",
                       different_ == 0 ? "no difference" : fmt::format("{} of the calls differ", different_));
    write_text(testee, options_.out);
  } else {
    print_json(options_.out.budget(), [&](JsonOutput& out) {
      out.object([&] {
        all_.write("calls", out);
        out.field("outputs_compared", compared_), out.field("calls_that_differ", different_);
        write_json(testee, out);
        trace.write(out);
      });
    });
  }
  if (refusal_) throw *refusal_;
  return different_ > 0 || testee.wrong() ? answers_differ : exit_code(Outcome::ok);
}

void CallReport::print(const ProgramCall& call, const std::string& method, const CallResult& result) const {
  Output& out = options_.out;
  out.print(
      "call {}, {}{}\n", calls_ - 1, shown(method),
      call.outputs || !call.fails.empty() || result.refusal || result.violation ? "" : ": ran, nothing is expected");
  for (std::size_t i = 0; i < result.comparisons.size(); ++i) {
    const Comparison& c = result.comparisons[i];
    out.print("  {} output {}  {}: {}\n", c.agrees() ? "pass" : "FAIL", i, kind_of(result.outputs[i]),
              printable(sentence(c, call.tolerance)));
  }
  if (!result.mismatch.empty())
    out.print("  FAIL {}\n", printable(result.mismatch));
  else if (result.refusal)
    out.print("  pass refused by {}\n", result.refusal->rule);
}

}  // namespace assay
