#include "command/call_report.h"

#include <fmt/format.h>

#include "command/command.h"
#include "command/print.h"
#include "conformance/text/fault_text.h"
#include "conformance/text/literal.h"
#include "conformance/text/printable.h"

namespace assay::command {
namespace {

text::Json comparison_json(const files::Comparison& c, const files::Tolerance& tolerance) {
  text::Json json = {{"agrees", c.agrees()}};
  if (c.difference.empty())
    json.update(text::Json{
        {"elements", c.elements}, {"outside", c.outside}, {"distance", text::to_json(Value(c.distance), {})}});
  if (c.outside > 0)
    json.update(text::Json{{"index", Ints(c.index.begin(), c.index.end())}, {"got", c.got}, {"want", c.want}});
  if (!c.agrees()) json["message"] = files::sentence(c, tolerance);
  return json;
}

text::Json result_json(const hosts::ProgramCall& call, const std::string& method, const hosts::CallResult& result) {
  text::Json json = {{"method", text::cut(method)}, {"agrees", result.agrees()}, {"outputs", text::Json::array()}};
  for (const files::Comparison& c : result.comparisons) json["outputs"].push_back(comparison_json(c, call.tolerance));
  if (result.violation) json.update(to_json(*result.violation));
  if (!result.mismatch.empty()) json["message"] = result.mismatch;
  if (result.refusal) json["refused"] = text::fault_json(*result.refusal);
  return json;
}

std::string kind_of(const Value& value) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  return tensor ? describe(*tensor) : text::printable(text::literal(value, 8), text::most_shown);
}

// Writes the first wrong delegate, or that there is none.
void write_delegate(const ProgramRunners& testee, const std::string& of, text::JsonOutput& out) {
  if (const auto& w = testee.wrong_delegate())
    out.field("first_wrong" + of, text::Json{{"testee", testee.testee()},
                                             {"delegate", text::printable(w->piece->description)},
                                             {"nodes", w->piece->nodes},
                                             {"verdict", verdict::name(w->verdict)},
                                             {"message", text::printable(w->message)}});
  else if (!testee.no_wrong_delegate().empty())
    out.field("delegates" + of, text::printable(testee.no_wrong_delegate()));
}

}  // namespace

text::Json to_json(const hosts::Violation& m) {
  return {{"verdict", verdict::name(m.verdict)},
          {"class", verdict::name(m.failure)},
          {"message", text::printable(m.message)}};
}

void write_text(const ProgramRunners& testee, text::Output& out) {
  for (const auto& [op, why] : testee.substituted())
    out.print("answered by the reference, not by {}: {}, {}\n", testee.testee(), op, text::printable(why));
  if (testee.wrong()) out.print("first wrong: {}\n", text::printable(hosts::sentence(*testee.wrong())));
  if (const auto& w = testee.wrong_delegate())
    out.print("first wrong of {}: {}\n  {}\n", testee.testee(), text::printable(w->piece->description),
              text::printable(w->message));
  else if (!testee.no_wrong_delegate().empty())
    out.print("{}: {}\n", testee.testee(), text::printable(testee.no_wrong_delegate()));
}

void write_json(const ProgramRunners& testee, text::JsonOutput& out) {
  text::Json substituted = text::Json::object();
  for (const auto& [op, why] : testee.substituted()) substituted[op] = text::printable(why);
  if (!substituted.empty()) out.field("answered_by_reference", substituted);
  if (const auto& w = testee.wrong()) {
    text::Json json = {
        {"method", text::cut(w->method)}, {"instruction", w->instruction}, {"operator", w->operator_name}};
    if (!w->node.empty()) json["node"] = w->node;
    json.update(to_json(hosts::Violation{w->judgement.verdict, w->judgement.failure, w->judgement.message}));
    json["distance"] = text::to_json(Value(w->judgement.distance), {});
    out.field("first_wrong", json);
  }
  write_delegate(testee, "", out);
}

void CallReport::add(const hosts::ProgramCall& call, const std::string& method, const hosts::CallResult& result) {
  ++calls_;
  different_ += !result.agrees();
  refused_ += result.refusal && call.fails.empty() && result.agrees();
  compared_ += result.comparisons.size();
  if (options_.json)
    all_.add(result_json(call, method, result));
  else
    print(call, method, result);
  if (result.refusal && call.fails.empty() && !refusal_) refusal_ = result.refusal;
}

int CallReport::finish(const Trace& trace, const ProgramRunners& testee, const ProgramRunners* against) const {
  if (!options_.json) {
    options_.out.print("{}{}{}{}{}\n", calls_, calls_ == 1 ? " call, " : " calls, ", compared_,
                       compared_ == 1 ? " output compared: " : " outputs compared: ", outcome());
    write_text(testee, options_.out);
    if (against) write_text(*against, options_.out);
  } else {
    print_json(options_.out.budget(), [&](text::JsonOutput& out) {
      out.object([&] {
        all_.write("calls", out);
        out.field("outputs_compared", compared_), out.field("calls_that_differ", different_);
        write_json(testee, out);
        if (against) write_delegate(*against, "_against", out);
        trace.write(out);
      });
    });
  }
  if (refusal_) throw *refusal_;
  if (calls_ == 0) throw Fault(Outcome::invalid, "run.calls", "there is no call to make");
  return different_ > 0 || testee.wrong() ? answers_differ : exit_code(Outcome::ok);
}

std::string CallReport::outcome() const {
  if (different_ > 0) return fmt::format("{} of the calls differ", different_);
  return refused_ > 0 ? fmt::format("{} of the calls were refused, not compared", refused_) : "no difference";
}

void CallReport::print(const hosts::ProgramCall& call, const std::string& method,
                       const hosts::CallResult& result) const {
  text::Output& out = options_.out;
  out.print(
      "call {}, {}{}\n", calls_ - 1, text::shown(method),
      call.outputs || !call.fails.empty() || result.refusal || result.violation ? "" : ": ran, nothing is expected");
  for (std::size_t i = 0; i < result.comparisons.size(); ++i) {
    const files::Comparison& c = result.comparisons[i];
    out.print("  {} output {}  {}: {}\n", c.agrees() ? "pass" : "FAIL", i, kind_of(result.outputs[i]),
              text::printable(files::sentence(c, call.tolerance)));
  }
  if (!result.mismatch.empty())
    out.print("  FAIL {}\n", text::printable(result.mismatch));
  else if (result.refusal)
    out.print("  {}refused by {}\n", call.fails.empty() ? "" : "pass ", result.refusal->rule);
}

}  // namespace assay::command
