#pragma once

#include <ostream>
#include <set>

#include "conformance/contract/contract.h"
#include "conformance/verdict/record.h"

namespace assay::contract {

// A contract that is derived from the calls that a library accepts. It promises every property that at least one
// answered call had, whether the answer was right or wrong, and it promises to refuse invalid calls if the library
// refused one.
class Draft {
 public:
  explicit Draft(std::string testee) : testee_(std::move(testee)) {}

  // Adds a call and its record, which was judged by a contract that promises everything.
  void add(const Operator& op, const cases::HostCall& call, const verdict::Record& record);

  void write(std::ostream& out) const;  // writes the form that read_contract reads

 private:
  // The dtypes of an operator's tensors in an answered call, by argument; nullopt if the argument is not a tensor.
  using Row = std::vector<std::optional<DType>>;
  struct Accepted {
    std::set<Row> rows;
    std::set<std::size_t> mixed;  // arguments that are lists and whose tensors had different dtypes
    std::set<std::string> layouts;
    bool shared_inputs = true, stated_outs = true;  // whether they held for every call
    Int most_rank = 0;
  };

  static void write_declaration(std::ostream& out, const Operator& op, const Accepted& accepted);

  std::string testee_;
  std::uint64_t valid_ = 0, answered_ = 0;
  std::set<std::string> slices_;
  std::map<std::string_view, Accepted> operators_;
};

}  // namespace assay::contract
