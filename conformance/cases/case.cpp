#include "conformance/cases/case.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "reference/call.h"

namespace assay::cases {
namespace {

// A word of a pattern against a name; without * or ? it names an operator and all its overloads.
bool glob(std::string_view word, std::string_view name) {
  const std::string pattern(word), whole(name);
  const auto fits = [&](const std::string& p) { return fnmatch(p.c_str(), whole.c_str(), 0) == 0; };
  return fits(pattern) || (pattern.find_first_of("*?") == std::string::npos && fits(pattern + ".*"));
}

std::vector<std::string_view> words_of(std::string_view pattern) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= pattern.size();) {
    const std::size_t end = std::min(pattern.find(',', begin), pattern.size());
    words.push_back(pattern.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

[[noreturn]] void bad_id(std::string_view text, std::string_view why) {
  throw Fault(Outcome::malformed, "case.id",
              fmt::format("'{}' is no case: {}, as in aten::add.out#7f3a91c2~dtype:0:5:0", text, why));
}

// "aten::add.out" for the file "aten.add.out.calls".
std::string operator_of(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  if (const std::size_t dot = name.find('.'); dot != std::string::npos) name.replace(dot, 1, "::");
  return name;
}

std::string broken_rule(const Operator& op, std::vector<Value> arguments) {
  return call(op, arguments, Budget({.bytes = Int{1} << 26, .work = Int{1} << 29})).rule;
}

}  // namespace

bool matches(std::string_view word, std::string_view operator_name) {
  constexpr std::string_view usual = "aten::";
  return glob(word, operator_name) ||
         (operator_name.starts_with(usual) && glob(word, operator_name.substr(usual.size())));
}

std::string to_text(const CaseId& id) {
  std::string text = fmt::format("{}#{:08x}", id.operator_name, id.call);
  for (const Mutation& m : id.mutations) text += "~" + to_text(m);
  return text;
}

CaseId case_id_from(std::string_view text) {
  const std::size_t hash = text.find('#'), end = std::min(text.find('~'), text.size());
  if (hash == std::string_view::npos || hash == 0 || hash > end)
    bad_id(text, "it must be an operator, # and the digest of a recorded call");
  CaseId id{std::string(text.substr(0, hash)), 0, {}};
  const auto [rest, error] = std::from_chars(text.data() + hash + 1, text.data() + end, id.call, 16);
  if (error != std::errc{} || rest != text.data() + end || end - hash != 9)
    bad_id(text, "what follows # must be eight hexadecimal digits");
  for (std::string_view left = text.substr(end); !left.empty();) {
    const std::size_t next = std::min(left.find('~', 1), left.size());
    id.mutations.push_back(mutation_from(left.substr(1, next - 1)));
    left.remove_prefix(next);
  }
  return id;
}

Corpus::Corpus(const std::filesystem::path& folder, std::string_view pattern) : made_(folder / MadeCases::file_name) {
  std::vector<std::filesystem::path> files = recorded_files(folder);
  if (!pattern.empty())
    std::erase_if(files, [words = words_of(pattern)](const auto& file) {
      return std::ranges::none_of(words, [&](std::string_view word) { return matches(word, operator_of(file)); });
    });
  for (RecordedCalls& calls : RecordedCalls::read_all(files))
    calls_.insert_or_assign(std::string(calls.op().name), std::move(calls));
}

const RecordedCalls* Corpus::calls(std::string_view operator_name) const {
  const auto at = calls_.find(operator_name);
  return at == calls_.end() ? nullptr : &at->second;
}

std::vector<const RecordedCalls*> Corpus::matching(std::string_view pattern) const {
  const std::vector<std::string_view> words = pattern.empty() ? std::vector{std::string_view("*")} : words_of(pattern);
  const auto matches_name = [](std::string_view word) {
    return [word](const auto& entry) { return matches(word, entry.first); };
  };
  for (std::string_view word : words)
    if (std::ranges::none_of(calls_, matches_name(word)))
      throw Fault(Outcome::unsupported, "case.operator",
                  fmt::format("no operator with recorded calls matches '{}'", word));
  std::vector<const RecordedCalls*> found;
  for (const auto& entry : calls_)
    if (std::ranges::any_of(words, [&](std::string_view word) { return matches_name(word)(entry); }))
      found.push_back(&entry.second);
  return found;
}

std::vector<CaseId> Corpus::made_cases(std::string_view operator_name) const {
  std::vector<CaseId> all;
  for (const std::string& id : made_.ids(operator_name)) all.push_back(case_id_from(id));
  return all;
}

Case Corpus::make(const CaseId& id) const {
  const RecordedCalls* recorded = calls(id.operator_name);
  if (!recorded)
    throw Fault(Outcome::unsupported, "case.operator",
                fmt::format("there are no recorded calls of '{}'", id.operator_name));
  std::optional<RecordedCall> call = recorded->find(id.call);
  if (!call)
    throw Fault(
        Outcome::invalid, "case.call",
        fmt::format("none of the {} recorded calls of {} is {:08x}", recorded->size(), id.operator_name, id.call));
  Case c{id, &recorded->op(), {}, std::move(*call)};
  c.arguments = c.recorded.arguments;
  if (!id.mutations.empty()) forget_outs(*c.op, c.arguments);
  for (const Mutation& m : id.mutations) c.arguments = mutated(*c.op, std::move(c.arguments), m);
  return c;
}

std::vector<std::size_t> subjects(const Operator& op, const Rule& rule) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const auto names = [&](std::string_view word) {
      return word == op.arguments[i].name ||
             (word.ends_with('?') && word.substr(0, word.size() - 1) == op.arguments[i].name);
    };
    const std::string_view type = op.arguments[i].type;
    const bool gives_dtype = type.starts_with("Tensor") || type.starts_with("Scalar");
    const bool by_common = std::ranges::find(rule.arguments, "common") != rule.arguments.end() && gives_dtype;
    if (std::ranges::any_of(rule.arguments, names) || by_common) found.push_back(i);
  }
  return found;
}

void forget_outs(const Operator& op, std::vector<Value>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (op.arguments[i].out) arguments[i] = std::monostate{};
}

std::vector<CaseId> rule_breaking_cases(const Corpus& corpus, const RecordedCalls& calls) {
  const Operator& op = calls.op();
  std::set<std::string, std::less<>> wanted;
  for (const Rule& rule : op.rules) wanted.emplace(rule.id);
  std::vector<CaseId> found;
  for (std::size_t i = 0; i < calls.size() && !wanted.empty(); ++i) {
    Case valid = corpus.make({std::string(op.name), calls.digest(i), {}});
    forget_outs(op, valid.arguments);
    if (!broken_rule(op, valid.arguments).empty()) continue;
    for (const Rule& rule : op.rules) {
      if (!wanted.contains(rule.id)) continue;
      for (std::size_t argument : subjects(op, rule)) {
        if (!wanted.contains(rule.id)) break;
        for (const Mutation& m : changes_of(op, valid.arguments, argument)) {
          std::vector<Value> changed = mutated(op, valid.arguments, m);
          if (broken_rule(op, std::move(changed)) != rule.id) continue;
          found.push_back({std::string(op.name), calls.digest(i), {m}});
          wanted.erase(std::string(rule.id));
          break;
        }
      }
    }
  }
  return found;
}

}  // namespace assay::cases
