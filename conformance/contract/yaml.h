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

// A value of a YAML file, and where it stands there. What is asked of it and is not so is a Fault (malformed, with the
// rule's id and "file:line" for its place) of one sentence.
class Yaml {
 public:
  enum class Kind : std::uint8_t { text, list, map };

  // Reads a file of one document, without aliases. Throws Fault with rule "contract.yaml".
  static Yaml read(const std::filesystem::path& file);

  const std::string& text() const;  // else contract.kind, as below
  Int whole_number() const;         // of at least 0
  bool boolean() const;             // true or false
  const std::vector<Yaml>& list() const;
  const std::map<std::string, Yaml>& map() const;
  std::span<const Yaml> items() const;     // of a list; a text or a map is its only one
  std::vector<std::string> texts() const;  // of the items

  // The keys that a map may have; any other is contract.key.
  void check_keys(std::initializer_list<std::string_view> known) const;
  const Yaml& at(const std::string& key) const;    // else contract.key
  const Yaml* find(const std::string& key) const;  // null where there is none

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
