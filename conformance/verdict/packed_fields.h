#pragma once

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "conformance/verdict/record.h"

// The fields that visit_fields lists, as consecutive bytes of this machine. Processes of the same program exchange
// records in this form, because there are too many to write as JSON.
namespace assay::verdict::fields {

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

struct Packer {
  std::string bytes;

  template <typename T>
  void required(const char*, const T& value) {
    put(value);
  }
  template <typename T>
  void optional(const char*, const T& value) {
    put(value);
  }

 private:
  template <Plain T>
  void put(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& value) { put(value.size()), bytes += value; }
  void put(const NamedText& value) { put(value.name), put(value.text); }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(list.size());
    for (const T& value : list) put(value);
  }
};

// Throws std::invalid_argument if the bytes are not such fields.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  template <typename T>
  void required(const char*, T& value) {
    take(value);
  }
  template <typename T>
  void optional(const char*, T& value) {
    take(value);
  }
  void refuse_rest() const {
    if (!left_.empty()) throw std::invalid_argument("bytes behind the last field");
  }

 private:
  std::string_view some(std::size_t bytes) {
    if (bytes > left_.size()) throw std::invalid_argument("fields end before the last of them");
    const std::string_view taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }
  template <Plain T>
  void take(T& value) {
    std::memcpy(&value, some(sizeof value).data(), sizeof value);
  }
  void take(std::string& value) {
    std::size_t size = 0;
    take(size);
    value = some(size);
  }
  void take(NamedText& value) { take(value.name), take(value.text); }
  template <typename T>
  void take(std::optional<T>& value) {
    bool has_value = false;
    take(has_value);
    if (has_value) take(value.emplace());
  }
  template <typename T>
  void take(std::vector<T>& list) {
    std::size_t size = 0;
    take(size);
    for (; size > 0; --size) take(list.emplace_back());
  }

  std::string_view left_;
};

}  // namespace assay::verdict::fields
