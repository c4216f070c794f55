#include "conformance/report/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

// The fields of the text form; writing and reading both walk this list.
template <typename RecordType, typename Visitor>
void visit_fields(RecordType& record, Visitor&& visit) {
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

Json encode(const std::string& value) { return value; }
Json encode(bool value) { return value; }
Json encode(std::uint64_t value) { return value; }
Json encode(const std::vector<std::string>& value) { return value; }
Json encode(Verdict value) { return name(value); }
Json encode(Class value) { return name(value); }

// JSON has no infinity and no NaN.
Json encode(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json encode(const std::vector<NamedText>& value) {
  Json list = Json::array();
  for (const NamedText& item : value) list.push_back({{"name", item.name}, {"text", item.text}});
  return list;
}

template <typename T>
Json encode(const std::optional<T>& value) {
  return value ? encode(*value) : Json(nullptr);
}

struct Writer {
  Json object = Json::object();

  template <typename T>
  void required(const char* key, const T& value) {
    object[key] = encode(value);
  }
  template <typename T>
  void optional(const char* key, const T& value) {
    if (value != T{}) required(key, value);
  }
};

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// An excerpt of what came, short enough for one sentence.
std::string excerpt(const Json& json) { return fmt::format("{:.60}", dump(json)); }

[[noreturn]] void refuse(std::string_view key, std::string_view wanted, const Json& came) {
  throw std::invalid_argument(fmt::format("record: field \"{}\" must be {}, got {}", key, wanted, excerpt(came)));
}

void decode(std::string_view key, const Json& json, std::string& value) {
  if (!json.is_string()) refuse(key, "a string", json);
  value = json.get<std::string>();
}

void decode(std::string_view key, const Json& json, bool& value) {
  if (!json.is_boolean()) refuse(key, "true or false", json);
  value = json.get<bool>();
}

void decode(std::string_view key, const Json& json, double& value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (json.is_number())
    value = json.get<double>();
  else if (json == "inf")
    value = infinity;
  else if (json == "-inf")
    value = -infinity;
  else if (json == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else
    refuse(key, "a number, \"inf\", \"-inf\" or \"nan\"", json);
}

void decode(std::string_view key, const Json& json, std::optional<double>& value) {
  value.reset();
  if (!json.is_null()) decode(key, json, value.emplace());
}

void decode(std::string_view key, const Json& json, std::optional<std::uint64_t>& value) {
  if (!json.is_number_unsigned()) refuse(key, "an integer of at least 0", json);
  value = json.get<std::uint64_t>();
}

template <typename Table, typename Value>
void decode_name(std::string_view key, const Json& json, const Table& table, Value& value) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (json != table[i].name) continue;
    value = static_cast<Value>(i);
    return;
  }
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const auto& row : table) names.push_back(fmt::format("\"{}\"", row.name));
  refuse(key, fmt::format("one of {}", fmt::join(names, ", ")), json);
}

void decode(std::string_view key, const Json& json, Verdict& value) { decode_name(key, json, verdicts, value); }
void decode(std::string_view key, const Json& json, Class& value) { decode_name(key, json, classes, value); }

void decode(std::string_view key, const Json& json, NamedText& value) {
  if (!json.is_object() || json.size() != 2 || !json.contains("name") || !json.contains("text"))
    refuse(key, "a list of {\"name\", \"text\"}", json);
  decode(key, json["name"], value.name);
  decode(key, json["text"], value.text);
}

template <typename T>
void decode(std::string_view key, const Json& json, std::vector<T>& value) {
  if (!json.is_array()) refuse(key, "a list", json);
  value.clear();
  for (const Json& item : json) decode(key, item, value.emplace_back());
}

struct Reader {
  const Json& object;
  std::set<std::string_view> known_keys{};

  template <typename T>
  void required(const char* key, T& value) {
    if (!object.contains(key)) throw std::invalid_argument(fmt::format("record: field \"{}\" is missing", key));
    optional(key, value);
  }
  template <typename T>
  void optional(const char* key, T& value) {
    known_keys.insert(key);
    if (const auto found = object.find(key); found != object.end()) decode(key, *found, value);
  }
};

// A misspelt optional field would otherwise be lost without a word.
void refuse_unknown_fields(const Reader& reader) {
  for (const auto& [key, value] : reader.object.items()) {
    if (!reader.known_keys.contains(key)) throw std::invalid_argument(fmt::format("record: unknown field \"{}\"", key));
  }
}

// What the fields say about each other.
void check_agreement(const Record& record) {
  if (record.dtypes.size() != record.layouts.size())
    throw std::invalid_argument(
        fmt::format("record: \"dtypes\" and \"layouts\" must name the same tensors, got {} and {} entries",
                    record.dtypes.size(), record.layouts.size()));
  const bool may_have_class = is_failure(record.verdict);
  if (record.verdict == Verdict::fail && record.failure == Class::none)
    throw std::invalid_argument("record: verdict \"fail\" needs a class, got \"\"");
  if (!may_have_class && record.failure != Class::none)
    throw std::invalid_argument(
        fmt::format("record: verdict \"{}\" has no class, got \"{}\"", name(record.verdict), name(record.failure)));
}

bool is_plain_in_a_shell(char c) {
  const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return alphanumeric || std::string_view("_-.,:/@%+=").find(c) != std::string_view::npos;
}

// A tilde or a number sign is special to a shell only where a word begins.
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

Json to_json(const Record& record) {
  Writer writer;
  visit_fields(record, writer);
  return std::move(writer.object);
}

std::string to_json_line(const Record& record) { return dump(to_json(record)); }

Record from_json_line(std::string_view line) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    throw std::invalid_argument(
        fmt::format("record: wanted one JSON object, got {:.60}", line.empty() ? "an empty line" : line));
  Record record;
  Reader reader{object};
  visit_fields(record, reader);
  refuse_unknown_fields(reader);
  check_agreement(record);
  return record;
}

std::string repro_line(const Record& record) { return "assay case " + shell_word(record.case_id); }

}  // namespace assay
