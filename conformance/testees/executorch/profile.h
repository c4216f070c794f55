#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "reference/operator.h"

// What ExecuTorch states about its kernels: profile.yaml says where.
namespace assay::executorch_kernels::profile {

using DTypes = std::uint32_t;  // a set: bit n is the dtype with the format's number n

// The dtypes that the edge dialect declares for an operator. A row gives each of `arguments` the number of a set; where
// two of them have the same number, they have the same dtype. The last arguments are the results, in their order.
struct Declaration {
  std::string_view name;  // of the out variant, "aten::add.out"
  std::span<const std::string_view> arguments;
  std::span<const DTypes> sets;
  std::span<const std::uint8_t> rows;  // arguments.size() numbers each
};

// Whether the call lies within the statement.
bool states(const Operator& op, std::span<const Value> arguments);

}  // namespace assay::executorch_kernels::profile
