#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/made.h"
#include "conformance/cases/mutation.h"
#include "conformance/cases/recorded.h"

namespace assay::cases {

// The identity of a case: a recorded call of an operator, given by the digest of its content, and the mutations applied
// to it in order. Its text, such as "aten::add.out#7f3a91c2~dtype:0:5:0", is enough to make the case again, on every
// machine and from every recording that has the call.
struct CaseId {
  std::string operator_name;
  std::uint32_t call = 0;
  std::vector<Mutation> mutations;
  bool operator==(const CaseId&) const = default;
};

std::string to_text(const CaseId& id);
CaseId case_id_from(std::string_view text);  // throws Fault (malformed, "case.id") that describes the error

// A call to judge.
struct Case {
  CaseId id;
  const Operator* op = nullptr;
  // In a mutated call the out arguments are None, so that the entry decides their properties.
  std::vector<Value> arguments;
  RecordedCall recorded;
};

// Whether a word of a pattern matches an operator's name, which need not have its namespace if that is aten. * stands
// for any characters and ? for one. A word without them also matches every overload of that operator.
bool matches(std::string_view word, std::string_view operator_name);

// The recorded calls of a folder, from which every case is made.
class Corpus {
 public:
  // `folder` holds golden files, each named after its operator. Reads only files of operators that match a word of the
  // pattern; an empty pattern matches all. Throws Fault as RecordedCalls does.
  explicit Corpus(const std::filesystem::path& folder, std::string_view pattern = {});

  const RecordedCalls* calls(std::string_view operator_name) const;  // null if nothing is recorded

  // The operators that match a word of the pattern, whose words are separated by commas. An empty pattern matches all.
  // Throws Fault (unsupported, "case.operator") for a word that matches no operator.
  std::vector<const RecordedCalls*> matching(std::string_view pattern) const;

  // Throws Fault (unsupported, "case.operator") for an operator without recorded calls, and (invalid, "case.call") if
  // no call has the digest.
  Case make(const CaseId& id) const;

  // The cases of an operator that were chosen ahead and are kept beside the recorded calls.
  std::vector<CaseId> made_cases(std::string_view operator_name) const;
  std::string coverage(std::string_view operator_name) const { return made_.coverage(operator_name); }

 private:
  std::map<std::string, RecordedCalls, std::less<>> calls_;
  MadeCases made_;
};

// The arguments of a rule: a change of one of them can break it.
std::vector<std::size_t> subjects(const Operator& op, const Rule& rule);

// Sets every out argument to None.
void forget_outs(const Operator& op, std::vector<Value>& arguments);

// For each rule of the operator, the simplest change of a recorded call for which the reference names that rule. Rules
// that no change breaks are omitted.
std::vector<CaseId> rule_breaking_cases(const Corpus& corpus, const RecordedCalls& calls);

}  // namespace assay::cases
