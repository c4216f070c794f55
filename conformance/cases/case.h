#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/mutation.h"
#include "conformance/cases/recorded.h"

namespace assay {

// Where a case comes from: a recorded call of an operator, known by the digest of its content, and the changes made to
// it in order. Its text, such as "aten::add.out#7f3a91c2~dtype:0:5:0", is all that is needed to make the case again, on
// every machine and from every recording that has the call.
struct CaseId {
  std::string operator_name;
  std::uint32_t call = 0;
  std::vector<Mutation> mutations;
  bool operator==(const CaseId&) const = default;
};

std::string to_text(const CaseId& id);
CaseId case_id_from(std::string_view text);  // throws Fault (malformed, "case.id") saying what is wrong

// A call to judge.
struct Case {
  CaseId id;
  const Operator* op = nullptr;
  std::vector<Value> arguments;  // of a mutated call the out arguments are None: the entry says what they are
  RecordedCall recorded;
};

// Whether a word of a pattern fits an operator's name, with or without its namespace: * and ? stand for any characters
// and for one, a word without them also names every overload of an operator.
bool matches(std::string_view word, std::string_view operator_name);

// The recorded calls of a folder, from which every case is made.
class Corpus {
 public:
  // `folder` holds golden files, each named after its operator; of one alone, where it is named. Throws Fault as
  // RecordedCalls does.
  explicit Corpus(const std::filesystem::path& folder, std::string_view operator_name = {});

  const RecordedCalls* calls(std::string_view operator_name) const;  // null where nothing is recorded

  // Operators that match a word of the pattern, in which commas separate words. An empty pattern is all of them. Throws
  // Fault (unsupported, "case.operator") for a word that matches none.
  std::vector<const RecordedCalls*> matching(std::string_view pattern) const;

  // Throws Fault (unsupported, "case.operator") for an operator without recorded calls and (invalid, "case.call")
  // where none of them has the digest.
  Case make(const CaseId& id) const;

 private:
  std::map<std::string, RecordedCalls, std::less<>> calls_;
};

// The arguments that a rule speaks of, of which a change can break it.
std::vector<std::size_t> subjects(const Operator& op, const Rule& rule);

// Makes every out argument None.
void forget_outs(const Operator& op, std::vector<Value>& arguments);

// For each rule of the operator, the simplest change of a recorded call for which the reference names that rule; rules
// that nothing breaks are left out.
std::vector<CaseId> rule_breaking_cases(const Corpus& corpus, const RecordedCalls& calls);

}  // namespace assay
