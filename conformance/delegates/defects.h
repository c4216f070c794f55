#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/delegates/pieces.h"
#include "conformance/verdict/defect.h"

// What the records of a run say about nodes.
namespace assay::delegates {

struct WrongPiece {
  std::shared_ptr<const Piece> piece;
  verdict::Verdict verdict;
  std::string message;
};

// Collects the failing pieces. A failing pair or delegate counts only if none of its nodes, and no pair of them, fails
// with the same inputs: otherwise the smaller piece explains the failure.
class Findings {
 public:
  explicit Findings(const Pieces& pieces);

  void add(const verdict::Record& record);
  // States that the failure of this case is in a part of it, as "instruction 3 of forward, aten::mm.out".
  void name_part(const std::string& case_id, std::string part) { parts_[case_id] = std::move(part); }

  // One defect for each kind of wrong piece, most serious first.
  std::vector<verdict::Defect> defects() const;
  // For each delegate call with a wrong piece: its first wrong piece.
  std::vector<WrongPiece> first_wrong_of_each_call() const;
  std::optional<WrongPiece> first_wrong() const;  // of those that have a part of a payload

 private:
  struct Failure {
    std::shared_ptr<const Piece> piece;
    verdict::Record record;
  };
  // The smaller failing piece that explains the failure, or the failure itself.
  const Failure& cause_of(const Failure& failure) const;

  std::map<std::string, std::shared_ptr<const Piece>, std::less<>> pieces_;
  std::vector<Failure> failures_;
  std::map<std::string, std::string, std::less<>> parts_;  // by case id
};

}  // namespace assay::delegates
