#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/verdict/record.h"

// The fields of the JSON lines of a run. A type with fields lists them once, in visit_fields(object, visit), for Writer
// and Reader.
namespace assay::verdict::fields {

using Json = nlohmann::ordered_json;

// Infinity and NaN, which JSON lacks, are "inf", "-inf" and "nan".
Json encode(const std::string& value);
Json encode(bool value);
Json encode(std::uint64_t value);
Json encode(double value);
Json encode(Verdict value);
Json encode(Class value);
Json encode(Tier value);
Json encode(const std::vector<std::string>& value);
Json encode(const std::vector<NamedText>& value);
Json encode(const Record& value);
template <typename T>
Json encode(const std::optional<T>& value) {
  return value ? encode(*value) : Json(nullptr);
}

// These throw std::invalid_argument with one sentence that names the field, the expected and the actual value.
void decode(std::string_view key, const Json& json, std::string& value);
void decode(std::string_view key, const Json& json, bool& value);
void decode(std::string_view key, const Json& json, std::uint64_t& value);
void decode(std::string_view key, const Json& json, double& value);
void decode(std::string_view key, const Json& json, Verdict& value);
void decode(std::string_view key, const Json& json, Class& value);
void decode(std::string_view key, const Json& json, Tier& value);
void decode(std::string_view key, const Json& json, NamedText& value);
void decode(std::string_view key, const Json& json, Record& value);
template <typename T>
void decode(std::string_view key, const Json& json, std::optional<T>& value) {
  value.reset();
  if (!json.is_null()) decode(key, json, value.emplace());
}
[[noreturn]] void refuse(std::string_view key, std::string_view wanted, const Json& came);
template <typename T>
void decode(std::string_view key, const Json& json, std::vector<T>& value) {
  if (!json.is_array()) refuse(key, "a list", json);
  value.clear();
  for (const Json& item : json) decode(key, item, value.emplace_back());
}

struct Writer {
  Json object = Json::object();

  template <typename T>
  void required(const char* key, const T& value) {
    object[key] = encode(value);
  }
  template <typename T>
  void optional(const char* key, const T& value) {  // omitted when empty
    if (value != T{}) required(key, value);
  }
};

class Reader {
 public:
  explicit Reader(const Json& object);

  template <typename T>
  void required(const char* key, T& value) {
    if (!object_.contains(key)) missing(key);
    optional(key, value);
  }
  template <typename T>
  void optional(const char* key, T& value) {
    known_.insert(key);
    if (const auto found = object_.find(key); found != object_.end()) decode(key, *found, value);
  }
  void refuse_others() const;  // rejects unknown fields, so that a misspelt optional field is an error

 private:
  [[noreturn]] static void missing(const char* key);

  const Json& object_;
  std::set<std::string_view> known_;
};

// The object that a line states, and the reverse.
Json parsed(std::string_view line);
std::string dumped(const Json& json);

}  // namespace assay::verdict::fields
