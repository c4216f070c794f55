#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/inspect/check.h"
#include "conformance/text/fault_text.h"

namespace assay::inspect {
namespace {

// A line for each element, and a line for the number of further elements.
template <class T, class Line>
void write_some(const Some<T>& some, text::Output& out, Line line) {
  for (const T& one : some.first) out.write(line(one));
  if (some.more > 0) out.print("and {} more\n", some.more);
}

std::string joined(const Some<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& n : names.first) all.push_back(text::shown(n));
  return fmt::format("{}{}", fmt::join(all, ", "), names.more > 0 ? fmt::format(" and {} more", names.more) : "");
}

std::string operators_text(const CheckReport& r) {
  if (r.operators == 0) return "it calls no operators";
  if (r.unknown_operators.empty())
    return fmt::format("the reference has {} that it calls",
                       r.operators == 1 ? "the operator" : fmt::format("all {} operators", r.operators));
  return fmt::format("the reference lacks {} of {} operators that it calls: {}", r.unknown_operators.size(),
                     r.operators, joined(r.unknown_operators));
}

// The contents of a valid file.
void write_needs(const CheckReport& r, text::Output& out) {
  if (r.named) out.print("  {} named data\n", *r.named);
  if (!r.kind->has_methods) return;
  write_some(r.methods, out, [](const MethodNeeds& m) {
    std::string all = fmt::format("  {}: {} instructions, {} bytes of planned memory\n", text::shown(m.name),
                                  m.instructions, m.planned);
    for (const auto& [memory, bytes] : m.memories) all += fmt::format("    {}: {} bytes\n", memory, bytes);
    return all;
  });
  out.print("  {}\n", operators_text(r));
  if (r.cases) out.print("  {} cases\n", *r.cases);
  if (!r.wanted_data.empty())
    out.print("  to run, it wants {} external data that no file has (T19; --data gives data files): {}\n",
              r.wanted_data.size(), joined(r.wanted_data));
}

void write_behind_files(const CheckReport& r, text::Output& out) {
  if (const Int calls = r.calls.in_full + r.calls.in_part + r.calls.not_asked; calls > 0)
    out.print("  asked the reference of {} calls: {} in full, {} as far as their operands are known, {} not at all\n",
              calls, r.calls.in_full, r.calls.in_part, r.calls.not_asked);
  if (r.payloads > 0) out.print("  payloads checked: {}\n", r.payloads);
  if (!r.unchecked_payloads.empty()) {
    out.print("  payloads not checked: {}\n", r.unchecked_payloads.size());
    write_some(r.unchecked_payloads, out, [](const std::string& place) { return fmt::format("    {}\n", place); });
  }
  if (r.testee.empty()) return;
  out.print("  {} {}\n", r.testee, r.lacking.empty() ? "has a kernel for every call" : "lacks");
  write_some(r.lacking, out, [](const std::string& what) { return fmt::format("    {}\n", what); });
  if (r.tries.tried + r.tries.not_tried > 0)
    out.print("  calls of its kernels: {} tried, {} known from its contract only\n", r.tries.tried, r.tries.not_tried);
}

text::Json list(const auto& items, auto f) {
  text::Json all = text::Json::array();
  for (const auto& item : items) all.push_back(f(item));
  return all;
}

text::Json names(const Some<std::string>& some) {
  return list(some.first, [](const std::string& name) { return text::Json(text::cut(name)); });
}

}  // namespace

void write_text(const CheckReport& r, text::Output& out) {
  if (r.faults.empty()) out.write("valid\n");
  write_some(r.faults, out, [](const Fault& f) { return text::sentence(f) + '\n'; });
  if (r.faults.empty()) write_needs(r, out);
  write_text(r.coverage, out);
  if (r.coverage.opened && r.kind->has_methods) write_behind_files(r, out);
}

void write_json(const CheckReport& r, text::JsonOutput& out) {
  out.object([&] {
    out.field("kind", r.kind->name), out.field("valid", r.faults.empty());
    out.field("faults", list(r.faults.first, text::fault_json)), out.field("more_faults", r.faults.more);
    if (r.named) out.field("named_data", *r.named);
    if (r.kind->has_methods) {
      out.field("methods", list(r.methods.first, [](const MethodNeeds& m) {
                  text::Json json{
                      {"name", text::cut(m.name)}, {"instructions", m.instructions}, {"planned_bytes", m.planned}};
                  for (const auto& [memory, bytes] : m.memories) json["bytes"][memory] = bytes;
                  return json;
                }));
      out.field("more_methods", r.methods.more), out.field("operators", r.operators);
      out.field("unknown_operators", names(r.unknown_operators));
      out.field(
          "calls",
          {{"asked_in_full", r.calls.in_full}, {"asked_in_part", r.calls.in_part}, {"not_asked", r.calls.not_asked}});
      out.field("payloads", {{"checked", r.payloads},
                             {"not_checked", names(r.unchecked_payloads)},
                             {"more_not_checked", r.unchecked_payloads.more}});
    }
    if (r.cases) out.field("cases", *r.cases);
    if (!r.wanted_data.empty())
      out.field("wanted_data", {{"names", names(r.wanted_data)}, {"more", r.wanted_data.more}});
    if (!r.testee.empty())
      out.field("testee", {{"name", r.testee},
                           {"lacks", list(r.lacking.first, [](const std::string& what) { return text::Json(what); })},
                           {"lacks_more", r.lacking.more},
                           {"tried", r.tries.tried},
                           {"not_tried", r.tries.not_tried}});
    out.field("rules", to_json(r.coverage));
  });
}

}  // namespace assay::inspect
