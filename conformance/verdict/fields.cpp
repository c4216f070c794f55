#include "conformance/verdict/fields.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "conformance/text/json.h"
#include "reference/fault.h"

namespace assay::verdict::fields {
namespace {

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

// An excerpt of the actual value, short enough for one sentence.
std::string excerpt(const Json& json) { return fmt::format("{:.60}", dumped(json)); }

}  // namespace

Json encode(const std::string& value) { return value; }
Json encode(bool value) { return value; }
Json encode(std::uint64_t value) { return value; }
Json encode(const std::vector<std::string>& value) { return value; }
Json encode(Verdict value) { return name(value); }
Json encode(Class value) { return name(value); }
Json encode(Tier value) { return name(value); }
Json encode(const Record& value) { return to_json(value); }

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

void refuse(std::string_view key, std::string_view wanted, const Json& came) {
  throw std::invalid_argument(fmt::format("field \"{}\" must be {}, got {}", key, wanted, excerpt(came)));
}

void decode(std::string_view key, const Json& json, std::string& value) {
  if (!json.is_string()) refuse(key, "a string", json);
  value = json.get<std::string>();
}

void decode(std::string_view key, const Json& json, bool& value) {
  if (!json.is_boolean()) refuse(key, "true or false", json);
  value = json.get<bool>();
}

void decode(std::string_view key, const Json& json, std::uint64_t& value) {
  if (!json.is_number_unsigned()) refuse(key, "an integer of at least 0", json);
  value = json.get<std::uint64_t>();
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

void decode(std::string_view key, const Json& json, Verdict& value) { decode_name(key, json, verdicts, value); }
void decode(std::string_view key, const Json& json, Class& value) { decode_name(key, json, classes, value); }
void decode(std::string_view key, const Json& json, Tier& value) { decode_name(key, json, tiers, value); }

void decode(std::string_view key, const Json& json, NamedText& value) {
  if (!json.is_object() || json.size() != 2 || !json.contains("name") || !json.contains("text"))
    refuse(key, "a list of {\"name\", \"text\"}", json);
  decode(key, json["name"], value.name);
  decode(key, json["text"], value.text);
}

void decode(std::string_view, const Json& json, Record& value) { value = record_from(json); }

Reader::Reader(const Json& object) : object_(object) {
  if (!object.is_object()) throw std::invalid_argument(fmt::format("wanted an object, got {}", excerpt(object)));
}

void Reader::missing(const char* key) { throw std::invalid_argument(fmt::format("field \"{}\" is missing", key)); }

void Reader::refuse_others() const {
  for (const auto& [key, value] : object_.items())
    if (!known_.contains(key)) throw std::invalid_argument(fmt::format("unknown field \"{}\"", key));
}

// The parsed JSON takes at most this many bytes for each byte of its line, and this many bytes more for a short line.
constexpr Int bytes_per_byte = 8, bytes_per_line = 1 << 20;

Json parsed(std::string_view line) try {
  Json json =
      text::parse_json(line, Budget({.bytes = bytes_per_line + bytes_per_byte * static_cast<Int>(line.size())}));
  if (!json.is_object()) throw std::invalid_argument(fmt::format("wanted one JSON object, got {:.60}", line));
  return json;
} catch (const Fault& fault) {
  if (line.empty()) throw std::invalid_argument("wanted one JSON object, got an empty line");
  throw std::invalid_argument(fmt::format("wanted one JSON object, got {:.60} ({})", line, fault.message));
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace assay::verdict::fields
