#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/contract/contract.h"
#include "conformance/verdict/record.h"

namespace assay::contract {

// Finds the dtypes that a contract promises for the first tensor of an operator, and that no answered call had there. A
// dtype is promised if a valid call of the run that the contract promises has it, or if the operator's declaration has
// it and no valid call of the run has it.
class UntriedPromises {
 public:
  explicit UntriedPromises(const Contract& contract) : contract_(contract) {}  // `contract` must outlive it

  void add(const verdict::Record& record);

  // The operators with such dtypes, sorted by their names, and the dtypes, such as "float16, int8".
  std::vector<verdict::NamedText> found() const;

 private:
  using Names = std::set<std::string>;  // of dtypes
  struct Calls {
    Names valid, promised, answered;  // the dtypes of the first tensors of such calls
  };

  const Contract& contract_;
  std::map<std::string, Calls> operators_;
};

}  // namespace assay::contract
