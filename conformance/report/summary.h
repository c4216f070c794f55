#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <map>
#include <string>

#include "conformance/report/defect.h"

/// What a run found, in memory that grows with operators and kinds of finding, not with cases.
namespace assay {

/// Cases of one operator that share a kind are one finding.
struct FindingKind {
  Verdict verdict = Verdict::pass;
  Class failure = Class::none;
  Tier tier = Tier::none;
  bool known = false;
  bool operator==(const FindingKind&) const = default;
};

/// One word for a kind: the class of a failure, else the verdict; "crash (abort)" where both speak.
std::string name(const FindingKind& kind);
FindingKind kind_of(const Record& record);  ///< a listed failure that passes is of the tier `quality`

/// A listed failure that still fails. (A listed failure that passes is news.)
bool is_expected(const FindingKind& kind);

/// What a reader has to look at: neither expected nor merely unsupported.
bool is_news(const FindingKind& kind);

/// Orders kinds by what a reader should see first: news before expected failures, then by tier.
struct MoreSerious {
  bool operator()(const FindingKind& a, const FindingKind& b) const;
};

using VerdictCounts = std::array<std::uint64_t, verdicts.size()>;

std::uint64_t total(const VerdictCounts& counts);
VerdictCounts& operator+=(VerdictCounts& sum, const VerdictCounts& counts);

struct Finding {
  std::uint64_t cases = 0;
  Record smallest;  ///< fewest elements, then shortest case id, then first by name
};

struct OperatorSummary {
  VerdictCounts verdicts{};
  double seconds = 0;
  std::map<FindingKind, Finding, MoreSerious> findings;  ///< every kind but an ordinary pass

  // A case counts once under each dtype and each layout that one of its tensors has.
  std::map<std::string, VerdictCounts> dtypes;
  std::map<std::string, VerdictCounts> layouts;
};

using TesteeSummary = std::map<std::string, OperatorSummary>;  ///< by operator

struct Summary {
  std::map<std::string, TesteeSummary> testees;

  void add(const Record& record);
  void add(const Defect& defect);  ///< the smallest call of its finding, where that is of the same tier
};

VerdictCounts verdict_counts(const TesteeSummary& testee);

/// Summary of a JSONL stream. Throws std::invalid_argument that begins with the number of the bad line.
Summary summarize(std::istream& lines);

}  // namespace assay
