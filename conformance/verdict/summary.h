#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "conformance/verdict/call_features.h"
#include "conformance/verdict/run_file.h"

// The results of a run. The memory grows with the number of operators and defects, and by a number for each call that
// is answered.
namespace assay::verdict {

using VerdictCounts = std::array<std::uint64_t, verdicts.size()>;

std::uint64_t total(const VerdictCounts& counts);
void add(VerdictCounts& sum, const VerdictCounts& counts);
// Whether tables and files tell the count of this verdict: `undecided` is left out where no case has it.
bool is_told(Verdict verdict, const VerdictCounts& counts);
// The counts that are told, with the names of the verdicts as keys.
nlohmann::ordered_json counts_json(const VerdictCounts& counts);

struct OperatorSummary {
  VerdictCounts verdicts{};
  VerdictCounts promised{};    // the verdicts on calls that the contract promises
  std::uint64_t answers = 0;   // promised valid calls that pass
  std::uint64_t refusals = 0;  // promised invalid calls that pass
  double seconds = 0;
  Tier worst = Tier::none;   // the most serious tier of the failures that are not listed
  std::uint64_t listed = 0;  // the number of expected failures

  // A case counts once under each dtype and each layout that one of its tensors has.
  std::map<std::string, VerdictCounts> dtypes;
  std::map<std::string, VerdictCounts> layouts;
};

// How many calls have each value of a feature.
struct FeatureCounts {
  std::string feature;
  std::vector<std::pair<std::string, std::uint64_t>> values;
};

struct TesteeSummary {
  std::map<std::string, OperatorSummary> operators;
  // The promised valid calls that pass: hashes of the distinct calls, and how many have each value of each feature. The
  // dtype is that of the first tensor.
  std::unordered_set<std::size_t> answered;
  std::map<std::string, std::uint64_t> answered_dtypes;
  std::array<std::array<std::uint64_t, most_feature_values>, call_feature_count> answered_features{};
  std::vector<Defect> defects;                     // sorted by is_more_serious
  std::vector<NamedText> untried;                  // as in RunFile
  std::vector<std::string> passing_though_listed;  // ids of cases that must leave the list of expected failures
};

struct Summary {
  std::map<std::string, TesteeSummary> testees;

  void add(const Record& record);
  void add(const Defect& defect);
};

// The sum over all operators.
VerdictCounts verdict_counts(const TesteeSummary& testee);
VerdictCounts promised_counts(const TesteeSummary& testee);

// The number of answered cases, and the number of them that are not failures.
std::uint64_t judged_of(const VerdictCounts& counts);
std::uint64_t passed_of(const VerdictCounts& counts);

// Operators with failures that neither a list nor a defect contains, because the run did not reach them.
std::set<std::string> unexamined_operators(const TesteeSummary& testee);

// One line: "98.1 % of 93,412 promised calls pass; 17 defects".
std::string headline(const TesteeSummary& testee);

// One line: "48012 answers to 47800 distinct calls and 45400 right refusals pass". All are promised.
std::string kinds_of_passes(const TesteeSummary& testee);

// The distinct calls of that line by the values of their features: first by the dtypes of their first tensors, most
// first, then by the values of each other feature that a call has, in the order of call_features().
std::vector<FeatureCounts> answers_by_feature(const TesteeSummary& testee);

// "0: 12, 1: 34".
std::string to_text(const FeatureCounts& counts);

// One line: "promised, but not answered in any call: aten::add.out (float16, int8), and 3 more operators"; empty if
// there is nothing to name. It names at most `most` operators.
std::string untried_promises(const TesteeSummary& testee, std::size_t most = 5);

Summary summarize(const RunFile& run);
// The summary of a JSONL stream. Throws as read_run.
Summary summarize(std::istream& lines);

}  // namespace assay::verdict
