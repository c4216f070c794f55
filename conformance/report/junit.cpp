#include "conformance/report/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <regex>
#include <string>

#include "conformance/text/printable.h"

namespace assay::report {
namespace {

// XML has no control characters except these two, and neither U+FFFE nor U+FFFF, not even escaped. All text is UTF-8.
std::string legible(std::string_view text) {
  static const std::regex noncharacter("\xef\xbf[\xbe\xbf]");
  return std::regex_replace(text::printable_lines(text), noncharacter, "\xef\xbf\xbd");
}

template <typename Value>
void set(pugi::xml_node node, const char* name, const Value& value) {
  node.append_attribute(name).set_value(value);
}
void set(pugi::xml_node node, const char* name, const std::string& value) { set(node, name, legible(value).c_str()); }

pugi::xml_node add_case(pugi::xml_node suite, const std::string& name) {
  pugi::xml_node test = suite.append_child("testcase");
  set(test, "classname", suite.attribute("name").value());
  set(test, "name", name);
  return test;
}

void add_outcome(pugi::xml_node test, const char* outcome, const std::string& message,
                 const std::string& details = {}) {
  pugi::xml_node node = test.append_child(outcome);
  set(node, "message", message);
  if (!details.empty()) node.text().set(legible(details).c_str());
}

std::string details_of(const verdict::Defect& d) {
  const verdict::Record& r = d.smallest;
  std::string all = fmt::format("{} {}, {}\n{}\n", d.cases, d.cases == 1 ? "case" : "cases", verdict::name(d.tier),
                                verdict::repro_line(d));
  const auto add = [&](std::string_view term, const std::string& text) {
    if (!text.empty()) all += fmt::format("{}: {}\n", term, text);
  };
  add("message", r.message);
  for (const verdict::NamedText& input : r.inputs) add(input.name, input.text);
  for (const verdict::NamedText& out : r.outs) add(out.name, "given as " + out.text);
  add("expected", r.expected);
  add("got", r.got);
  return all;
}

void add_defect(pugi::xml_node suite, const verdict::Defect& d) {
  pugi::xml_node test = add_case(suite, fmt::format("{}: {}", d.id, d.sentence));
  if (const std::string_view reason = verdict::excuse(d); !reason.empty())
    add_outcome(test, "skipped", std::string(reason));
  else
    add_outcome(test, d.verdict == verdict::Verdict::fail ? "failure" : "error", d.sentence, details_of(d));
}

void add_passes(pugi::xml_node suite, const verdict::OperatorSummary& op, bool unexamined) {
  const std::uint64_t judged = verdict::judged_of(op.verdicts), passed = verdict::passed_of(op.verdicts);
  pugi::xml_node test = add_case(suite, fmt::format("{} of {} cases pass", passed, judged));
  set(test, "time", fmt::format("{:.6f}", op.seconds));
  if (unexamined)
    add_outcome(test, "failure", "The run did not come to the defects behind the other cases.");
  else if (judged == 0)
    add_outcome(test, "skipped", fmt::format("{} cases are unsupported", verdict::total(op.verdicts)));
}

pugi::xml_node add_suite(pugi::xml_node suites, const std::string& name) {
  pugi::xml_node suite = suites.append_child("testsuite");
  set(suite, "name", name);
  return suite;
}

// Sets the counts of a suite. Its test cases must be complete.
void count(pugi::xml_node suite) {
  const auto tests = suite.children("testcase");
  const auto with = [&](const char* outcome) {
    return std::ranges::count_if(tests, [&](pugi::xml_node test) { return !test.child(outcome).empty(); });
  };
  set(suite, "tests", std::ranges::distance(tests));
  set(suite, "failures", with("failure"));
  set(suite, "errors", with("error"));
  set(suite, "skipped", with("skipped"));
}

void add_run(pugi::xml_node suites, const std::string& name, const verdict::TesteeSummary& testee,
             const verdict::Facts& facts) {
  pugi::xml_node suite = add_suite(suites, name);
  pugi::xml_node properties = suite.append_child("properties");
  for (const verdict::NamedText& fact : facts) {
    pugi::xml_node property = properties.append_child("property");
    set(property, "name", fact.name);
    set(property, "value", fact.text);
  }
  for (const std::string& id : testee.passing_though_listed)
    add_outcome(add_case(suite, id), "failure", "It is listed as an expected failure, but passes.");
  count(suite);
}

void add_testee(pugi::xml_node suites, const std::string& name, const verdict::TesteeSummary& testee,
                const verdict::Facts& facts) {
  add_run(suites, name, testee, facts);
  const std::set<std::string> unexamined = verdict::unexamined_operators(testee);
  for (const auto& [operator_name, op] : testee.operators) {
    pugi::xml_node suite = add_suite(suites, fmt::format("{}.{}", name, operator_name));
    for (const verdict::Defect& d : testee.defects)
      if (std::ranges::binary_search(d.operators, operator_name)) add_defect(suite, d);
    add_passes(suite, op, unexamined.contains(operator_name));
    count(suite);
  }
}

}  // namespace

void write_junit(std::ostream& out, const verdict::Summary& summary, const verdict::Facts& facts) {
  pugi::xml_document document;
  pugi::xml_node suites = document.append_child("testsuites");
  set(suites, "name", "assay");
  for (const auto& [name, testee] : summary.testees) add_testee(suites, name, testee, facts);
  document.save(out, "  ");
}

}  // namespace assay::report
