#include "conformance/delegates/defects.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "conformance/verdict/stated_defects.h"

namespace assay::delegates {
namespace {

// The id without its last part, which names the nodes: it is the same for all pieces of a delegate call.
std::string_view call_of(const Piece& piece) { return std::string_view(piece.id).substr(0, piece.id.rfind('/')); }

bool contains(const Piece& whole, const Piece& part) { return std::ranges::includes(whole.nodes, part.nodes); }

// The extent of a piece, by the id of its case.
Extent extent_of(const verdict::Record& r) {
  const std::string_view nodes = std::string_view(r.case_id).substr(r.case_id.rfind('/') + 1);
  return !std::isdigit(static_cast<unsigned char>(nodes[0])) ? Extent::whole
         : r.operator_name.find(" + ") != std::string::npos  ? Extent::pair
                                                             : Extent::node;
}

bool is_simpler(const verdict::Record& a, const verdict::Record& b) { return extent_of(a) < extent_of(b); }

}  // namespace

Findings::Findings(const Pieces& pieces) {
  for (const auto& piece : pieces) pieces_.emplace(piece->id, piece);
}

void Findings::add(const verdict::Record& record) {
  if (verdict::is_failure(record.verdict)) failures_.push_back({pieces_.at(record.case_id), record});
}

const Findings::Failure& Findings::cause_of(const Failure& failure) const {
  const auto explains = [&](const Failure& other) {
    return other.piece->extent < failure.piece->extent && call_of(*other.piece) == call_of(*failure.piece) &&
           contains(*failure.piece, *other.piece);
  };
  const auto smaller = std::ranges::find_if(failures_, explains);
  return smaller == failures_.end() ? failure : cause_of(*smaller);
}

std::vector<verdict::Defect> Findings::defects() const {
  verdict::StatedDefects defects("the runtime", is_simpler);
  for (const Failure& failure : failures_) {
    const Failure& cause = cause_of(failure);
    const auto part = parts_.find(cause.piece->id);
    const std::string& where = part == parts_.end() ? cause.piece->kinds : part->second;
    defects.add(
        failure.record,
        {cause.record.failure, "", {concat("in ", where, " of ", call_of(*cause.piece)), concat("in ", where)}});
  }
  return defects.found();
}

std::vector<WrongPiece> Findings::first_wrong_of_each_call() const {
  std::vector<WrongPiece> first;
  std::set<std::string_view> seen;
  for (const Failure& failure : failures_) {
    if (!seen.insert(call_of(*failure.piece)).second) continue;
    const std::string& message = failure.record.message;  // the steps of the case follow the first line
    first.push_back({failure.piece, failure.record.verdict, message.substr(0, message.find('\n'))});
  }
  return first;
}

std::optional<WrongPiece> Findings::first_wrong() const {
  const auto all = first_wrong_of_each_call();
  const auto found = std::ranges::find_if(all, [](const WrongPiece& w) { return w.piece->call != nullptr; });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

}  // namespace assay::delegates
