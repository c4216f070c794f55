#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number.h"

namespace assay {

// A value of a YAML file with its place in the file. Each function throws Fault (malformed, with a rule id and with
// "file:line" as the place) if the value is not of the kind that the function asks for.
class Yaml {
 public:
  enum class Kind : std::uint8_t { text, list, map };

  // Reads a file of one document, without aliases. Throws Fault with rule "contract.yaml".
  static Yaml read(const std::filesystem::path& file);

  // These throw contract.kind if the value is of another kind.
  const std::string& text() const;
  Int whole_number() const;  // at least 0
  bool boolean() const;      // "true" or "false"
  const std::vector<Yaml>& list() const;
  const std::map<std::string, Yaml>& map() const;
  std::span<const Yaml> items() const;     // the elements of a list; a text or a map counts as a list of one
  std::vector<std::string> texts() const;  // the texts of the items

  // Throws contract.key for any key of a map that is not known.
  void check_keys(std::initializer_list<std::string_view> known) const;
  const Yaml& at(const std::string& key) const;    // throws contract.key if the key is missing
  const Yaml* find(const std::string& key) const;  // null if the key is missing

  [[noreturn]] void refuse(std::string_view rule, const std::string& sentence) const;

 private:
  friend class YamlReader;
  const Yaml& expect(Kind kind, std::string_view wanted) const;

  Kind kind_ = Kind::text;
  std::string text_;
  std::vector<Yaml> list_;
  std::map<std::string, Yaml> map_;
  std::string place_;
};

}  // namespace assay
