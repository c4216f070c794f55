#pragma once

#include <ostream>
#include <set>

#include "conformance/contract/contract.h"
#include "conformance/verdict/record.h"

namespace assay {

// A contract made of what a library accepts: it promises what at least one call had that it answered, rightly or not,
// and to refuse invalid calls where it refused one.
class Draft {
 public:
  explicit Draft(std::string testee) : testee_(std::move(testee)) {}

  // A call and the record of how the library took it, judged by a contract that promises everything.
  void add(const Operator& op, const HostCall& call, const Record& record);

  void write(std::ostream& out) const;  // as read_contract takes it

 private:
  // The dtypes of an operator's tensors in an answered call, by argument; nothing where there is no tensor.
  using Row = std::vector<std::optional<DType>>;
  struct Accepted {
    std::set<Row> rows;
    std::set<std::size_t> mixed;  // lists whose tensors had different dtypes
    std::set<std::string> layouts;
    bool shared = true;  // no call had two layouts
    Int most_rank = 0;
  };

  static void write_declaration(std::ostream& out, const Operator& op, const Accepted& accepted);

  std::string testee_;
  std::uint64_t valid_ = 0, answered_ = 0;
  std::set<std::string> slices_;
  std::map<std::string_view, Accepted> operators_;
};

}  // namespace assay
