#include "conformance/verdict/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "conformance/verdict/call_features.h"
#include "conformance/verdict/fields.h"
#include "conformance/verdict/packed_fields.h"

namespace assay::verdict {
namespace {

template <typename RecordType, typename Visitor>
void visit_record(RecordType& record, Visitor&& visit) {
  visit.required("testee", record.testee);
  visit.required("operator", record.operator_name);
  visit.required("case", record.case_id);
  visit.required("dtypes", record.dtypes);
  visit.required("layouts", record.layouts);
  visit.required("valid", record.valid);
  visit.required("slices", record.slices);
  visit.required("promised", record.promised);
  visit.required("verdict", record.verdict);
  visit.required("class", record.failure);
  visit.required("distance", record.distance);
  visit.required("seconds", record.seconds);
  visit.optional("call", record.call);
  visit.optional("features", record.features);
  visit.optional("rule", record.rule);
  visit.optional("message", record.message);
  visit.optional("inputs", record.inputs);
  visit.optional("outs", record.outs);
  visit.optional("expected", record.expected);
  visit.optional("got", record.got);
  visit.optional("bound", record.bound);
  visit.optional("elements", record.elements);
  visit.optional("known", record.known);
}

// Conditions between the fields.
void check_agreement(const Record& record) {
  if (record.dtypes.size() != record.layouts.size())
    throw std::invalid_argument(
        fmt::format("\"dtypes\" and \"layouts\" must name the same tensors, got {} and {} entries",
                    record.dtypes.size(), record.layouts.size()));
  if (!record.features.empty()) static_cast<void>(features_from(record.features));
  const bool may_have_class = is_failure(record.verdict);
  if (record.verdict == Verdict::fail && record.failure == Class::none)
    throw std::invalid_argument("verdict \"fail\" needs a class, got \"\"");
  if (!may_have_class && record.failure != Class::none)
    throw std::invalid_argument(
        fmt::format("verdict \"{}\" has no class, got \"{}\"", name(record.verdict), name(record.failure)));
}

bool is_plain_in_a_shell(char c) {
  const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return alphanumeric || std::string_view("_-.,:/@%+=").find(c) != std::string_view::npos;
}

// A tilde or a number sign is special to a shell only at the beginning of a word.
bool is_one_shell_word(std::string_view text) {
  const auto plain_inside = [](char c) { return is_plain_in_a_shell(c) || c == '~' || c == '#'; };
  return !text.empty() && is_plain_in_a_shell(text.front()) && std::ranges::all_of(text, plain_inside);
}

std::string shell_word(std::string_view text) {
  if (is_one_shell_word(text)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

}  // namespace

Tier tier_of(const Record& r) {
  const std::optional<double> distance = r.bound.empty() ? std::nullopt : r.distance;
  return tier_of(r.verdict, r.failure, r.valid, r.slices, r.promised, distance);
}

bool answers_valid_call(const Record& r) {
  return r.valid && r.verdict != Verdict::unsupported && r.verdict != Verdict::crash && r.verdict != Verdict::timeout &&
         r.failure != Class::refused_though_valid;
}

nlohmann::ordered_json to_json(const Record& record) {
  fields::Writer writer;
  visit_record(record, writer);
  return std::move(writer.object);
}

std::string to_json_line(const Record& record) { return fields::dumped(to_json(record)); }

Record record_from(const nlohmann::ordered_json& object) {
  try {
    Record record;
    fields::Reader reader(object);
    visit_record(record, reader);
    reader.refuse_others();
    check_agreement(record);
    return record;
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument(fmt::format("record: {}", fault.what()));
  }
}

Record from_json_line(std::string_view line) { return record_from(fields::parsed(line)); }

std::string to_bytes(const Record& record) {
  fields::Packer packer;
  visit_record(record, packer);
  return std::move(packer.bytes);
}

Record from_bytes(std::string_view bytes) {
  Record record;
  fields::Unpacker unpacker(bytes);
  visit_record(record, unpacker);
  unpacker.refuse_rest();
  return record;
}

std::string repro_line(const Record& record, std::string_view testee, std::string_view contract, bool thorough) {
  std::string line = "assay case " + shell_word(record.case_id);
  if (thorough) line += " --thorough";
  if (record.failure == Class::not_repeatable && record.case_id.find('#') != std::string::npos) line += " --repeat 2";
  if (!contract.empty()) line += " --contract " + shell_word(contract);
  if (!testee.empty()) line += " --testee " + shell_word(testee);
  return line;
}

}  // namespace assay::verdict
