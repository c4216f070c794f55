#include "conformance/verdict/defect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "conformance/text/printable.h"
#include "conformance/verdict/fields.h"

namespace assay::verdict {
namespace {

template <typename DefectType, typename Visitor>
void visit_defect(DefectType& d, Visitor&& visit) {
  visit.required("id", d.id);
  visit.required("testee", d.testee);
  visit.required("tier", d.tier);
  visit.required("verdict", d.verdict);
  visit.required("class", d.failure);
  visit.required("when", d.when);
  visit.required("sentence", d.sentence);
  visit.optional("ways", d.ways);
  visit.required("operators", d.operators);
  visit.required("cases", d.cases);
  visit.required("promised_cases", d.promised_cases);
  visit.required("distance", d.distance);
  visit.required("drawn", d.trial.drawn);
  visit.required("alike", d.trial.alike);
  visit.required("differing", d.trial.differing);
  visit.required("spared", d.trial.spared);
  visit.required("explained", d.explained);
  visit.optional("known", d.known);
  visit.required("case_ids", d.case_ids);
  visit.required("smallest", d.smallest);
  visit.optional("neighbours", d.neighbours);
  visit.optional("command", d.command);
}

// The verb phrase of a defect, for one operator and for several.
struct Phrase {
  std::string_view one, many;
};

Phrase phrase_of(Verdict verdict, Class failure) {
  using enum Class;
  switch (failure) {
    case none:
      if (verdict == Verdict::timeout) return {"does not end", "do not end"};
      if (verdict == Verdict::quality)
        return {"is less accurate than it should be", "are less accurate than they should be"};
      return {"ends the process", "end the process"};
    case value:
    case nan:
      return {"gives wrong values", "give wrong values"};
    case shape:
      return {"gives results of wrong sizes", "give results of wrong sizes"};
    case dtype:
      return {"gives results of a wrong dtype", "give results of a wrong dtype"};
    case layout:
      return {"gives results in a wrong dim order", "give results in a wrong dim order"};
    case unwritten:
      return {"leaves results unwritten", "leave results unwritten"};
    case reads_uninitialised:
      return {"reads memory that nobody wrote to", "read memory that nobody wrote to"};
    case depends_on_addresses:
      return {"gives other results where tensors are aligned otherwise",
              "give other results where tensors are aligned otherwise"};
    case not_repeatable:
      return {"answers one call in two ways", "answer one call in two ways"};
    case spoils_state:
      return {"spoils what later calls answer", "spoil what later calls answer"};
    case changes_input:
      return {"changes its inputs", "change their inputs"};
    case writes_out_of_bounds:
      return {"writes outside of the memory it was given", "write outside of the memory they were given"};
    case reads_out_of_bounds:
      return {"reads outside of the memory it was given", "read outside of the memory they were given"};
    case heap_damage:
      return {"damages the heap", "damage the heap"};
    case uses_freed:
      return {"uses memory that is freed", "use memory that is freed"};
    case double_free:
      return {"frees memory twice", "free memory twice"};
    case leaks:
      return {"keeps memory in each call", "keep memory in each call"};
    case segmentation_fault:
      return {"ends in a segmentation fault", "end in a segmentation fault"};
    case bus_error:
      return {"ends in a bus error", "end in a bus error"};
    case arithmetic_trap:
      return {"ends in an arithmetic trap", "end in an arithmetic trap"};
    case illegal_instruction:
      return {"ends in an illegal instruction", "end in an illegal instruction"};
    case signal:
      return {"ends in a signal", "end in a signal"};
    case exit:
      return {"exits", "exit"};
    case abort:
      return {"aborts", "abort"};
    case assertion:
      return {"aborts on an assertion", "abort on an assertion"};
    case refused_though_valid:
      return {"refuses valid calls", "refuse valid calls"};
    case accepted_though_invalid:
      return {"accepts invalid calls", "accept invalid calls"};
  }
  return {};
}

// "ignores alpha" for "ignore alpha", "does not end" for "do not end", "multiplies" for "multiply".
std::string of_one(std::string_view does) {
  const std::size_t end = std::min(does.find(' '), does.size());
  const std::string_view verb = does.substr(0, end), rest = does.substr(end);
  if (verb.ends_with("ly") || verb.ends_with("ry")) return fmt::format("{}ies{}", verb.substr(0, end - 1), rest);
  return fmt::format("{}{}{}", verb, verb == "do" || verb.ends_with("sh") ? "es" : "s", rest);
}

}  // namespace

bool Trial::convinces(double share) const {
  const auto is_share = [&](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) >= share * static_cast<double>(whole);
  };
  return drawn >= fewest_drawn && is_share(alike, drawn) && is_share(spared, differing);
}

Trial& Trial::operator+=(const Trial& t) {
  drawn += t.drawn, alike += t.alike, differing += t.differing, spared += t.spared;
  return *this;
}

std::string_view effect(Verdict verdict, Class failure) { return phrase_of(verdict, failure).one; }

std::string sentence(const Defect& d, std::string_view many) {
  const bool one = d.operators.size() == 1;
  const std::string who = one ? d.operators[0] : fmt::format("{} {}", d.operators.size(), many);
  const Phrase phrase = phrase_of(d.verdict, d.failure);
  const std::string does =
      !d.does.empty() ? one ? of_one(d.does) : d.does : std::string(one ? phrase.one : phrase.many);
  return fmt::format("{} {}{}{}", who, does, d.when.empty() || d.when.starts_with(';') ? "" : " ", d.when);
}

std::string_view kind(const Defect& d) { return d.failure == Class::none ? name(d.verdict) : name(d.failure); }

std::string how_far(const Defect& d) {
  constexpr double most_told = 1e6;  // beyond, the number tells no more than that the result is wrong
  const bool is_far = d.distance && *d.distance > 0 && *d.distance <= most_told;
  return is_far ? fmt::format("up to {:.3g} times the bound", *d.distance) : "";
}

std::string repro_line(const Defect& d) {
  return text::printable(d.command.empty() ? repro_line(d.smallest) : d.command, std::string::npos);
}

std::string_view excuse(const Defect& d) {
  if (d.known) return "listed as an expected failure";
  if (!is_failure(d.verdict)) return "no failure, but could be better";
  return d.promised() ? "" : "outside of the contract";
}

bool is_more_serious(const Defect& a, const Defect& b) {
  const auto key = [](const Defect& d) { return std::tuple(d.known, d.tier, ~d.cases, std::string_view(d.sentence)); };
  return key(a) < key(b);
}

nlohmann::ordered_json to_json(const Defect& defect) {
  fields::Writer writer;
  visit_defect(defect, writer);
  return std::move(writer.object);
}

std::string to_json_line(const Defect& defect) { return fields::dumped({{"defect", to_json(defect)}}); }

Defect defect_from_json_line(std::string_view line) {
  const fields::Json object = fields::parsed(line);
  try {
    Defect defect;
    fields::Reader outer(object);
    if (!object.contains("defect")) throw std::invalid_argument("field \"defect\" is missing");
    fields::Reader reader(object["defect"]);
    visit_defect(defect, reader);
    reader.refuse_others();
    return defect;
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument(fmt::format("defect: {}", fault.what()));
  }
}

}  // namespace assay::verdict
