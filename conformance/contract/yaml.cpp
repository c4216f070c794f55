#include "conformance/contract/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

#include "reference/fault.h"

namespace assay::contract {
namespace {

constexpr int deepest = 32;
constexpr std::size_t most_bytes = 1 << 20;  // the longest contract here has 55,378 bytes

[[noreturn]] void malformed(std::string_view rule, std::string place, const std::string& sentence) {
  throw Fault(Outcome::malformed, std::string(rule), sentence, std::move(place));
}

}  // namespace

// Builds values from the events of libyaml.
class YamlReader {
 public:
  explicit YamlReader(const std::filesystem::path& file) : name_(file.string()), text_(most_bytes + 1, '\0') {
    const std::unique_ptr<std::FILE, Close> opened(std::fopen(name_.c_str(), "rb"));
    if (!opened) malformed("contract.yaml", name_, "it cannot be read");
    text_.resize(std::fread(text_.data(), 1, text_.size(), opened.get()));
    if (text_.size() > most_bytes)
      malformed("contract.yaml", name_, concat("it is longer than ", most_bytes, " bytes"));
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()), text_.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  Yaml document() {
    expect(YAML_STREAM_START_EVENT), expect(YAML_DOCUMENT_START_EVENT);
    next();
    Yaml whole = value(0);
    expect(YAML_DOCUMENT_END_EVENT), expect(YAML_STREAM_END_EVENT);
    return whole;
  }

 private:
  struct Event : yaml_event_t {
    Event() : yaml_event_t{} {}
    ~Event() { yaml_event_delete(this); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string place(const yaml_mark_t& at) const { return concat(name_, ':', at.line + 1); }

  void next() {
    event_ = std::make_unique<Event>();
    if (yaml_parser_parse(&parser_, event_.get()) == 0)
      malformed("contract.yaml", place(parser_.problem_mark), parser_.problem ? parser_.problem : "it is no YAML");
  }

  void expect(yaml_event_type_t type) {
    next();
    if (event_->type != type) malformed("contract.yaml", place(event_->start_mark), "it must be one document");
  }

  // Reads the value that begins with the present event.
  Yaml value(int depth) {
    Yaml v;
    v.place_ = place(event_->start_mark);
    if (depth > deepest) malformed("contract.yaml", v.place_, concat("values are nested more than ", deepest, " deep"));
    switch (event_->type) {
      case YAML_SCALAR_EVENT:
        v.text_ = scalar();
        break;
      case YAML_SEQUENCE_START_EVENT:
        v.kind_ = Yaml::Kind::list;
        for (next(); event_->type != YAML_SEQUENCE_END_EVENT; next()) v.list_.push_back(value(depth + 1));
        break;
      case YAML_MAPPING_START_EVENT:
        v.kind_ = Yaml::Kind::map;
        for (next(); event_->type != YAML_MAPPING_END_EVENT; next()) entry(v, depth);
        break;
      default:
        malformed("contract.yaml", v.place_, "aliases and empty files are not taken");
    }
    return v;
  }

  void entry(Yaml& map, int depth) {
    const std::string at = place(event_->start_mark);
    if (event_->type != YAML_SCALAR_EVENT) malformed("contract.yaml", at, "a key must be a text");
    const std::string key = scalar();
    next();
    if (!map.map_.emplace(key, value(depth + 1)).second)
      malformed("contract.key", at, concat("the key \"", key, "\" is there twice"));
  }

  std::string scalar() const {
    return {reinterpret_cast<const char*>(event_->data.scalar.value), event_->data.scalar.length};
  }

  std::string name_;
  std::string text_;
  yaml_parser_t parser_{};
  std::unique_ptr<Event> event_;
};

Yaml Yaml::read(const std::filesystem::path& file) { return YamlReader(file).document(); }

void Yaml::refuse(std::string_view rule, const std::string& sentence) const { malformed(rule, place_, sentence); }

const Yaml& Yaml::expect(Kind kind, std::string_view wanted) const {
  constexpr std::string_view kinds[] = {"a text", "a list", "a map"};
  if (kind_ != kind)
    refuse("contract.kind", concat(wanted, " must stand here, not ", kinds[static_cast<std::size_t>(kind_)]));
  return *this;
}

const std::string& Yaml::text() const { return expect(Kind::text, "a text").text_; }
const std::vector<Yaml>& Yaml::list() const { return expect(Kind::list, "a list").list_; }
const std::map<std::string, Yaml>& Yaml::map() const { return expect(Kind::map, "a map").map_; }

Int Yaml::whole_number() const {
  const std::string& digits = text();
  Int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number < 0)
    refuse("contract.kind", concat("a whole number must stand here, not \"", digits, '"'));
  return number;
}

bool Yaml::boolean() const {
  if (text() != "true" && text() != "false")
    refuse("contract.kind", concat("true or false must stand here, not \"", text(), '"'));
  return text() == "true";
}

std::span<const Yaml> Yaml::items() const {
  return kind_ == Kind::list ? std::span<const Yaml>(list_) : std::span<const Yaml>(this, 1);
}

std::vector<std::string> Yaml::texts() const {
  std::vector<std::string> all;
  for (const Yaml& item : items()) all.push_back(item.text());
  return all;
}

void Yaml::check_keys(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : map())
    if (std::ranges::find(known, key) == known.end())
      value.refuse("contract.key", concat("there is no key \"", key, "\" here"));
}

const Yaml* Yaml::find(const std::string& key) const {
  const auto at = map().find(key);
  return at == map_.end() ? nullptr : &at->second;
}

const Yaml& Yaml::at(const std::string& key) const {
  const Yaml* found = find(key);
  if (!found) refuse("contract.key", concat("the key \"", key, "\" is missing"));
  return *found;
}

}  // namespace assay::contract
