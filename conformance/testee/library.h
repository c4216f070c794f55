#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reference/operator.h"
#include "reference/value.h"

namespace assay {

// A dense tensor in memory that the host owns: `data` holds the elements in dim_order, without gaps.
struct TensorView {
  DType dtype = DType::float32;
  Dims sizes;
  Dims dim_order;
  std::byte* data = nullptr;
  std::size_t capacity = 0;  // bytes at data; an out may be resized as long as it fits

  std::size_t bytes() const { return static_cast<std::size_t>(count(sizes) * info(dtype).bytes); }
};

using TensorViews = std::vector<std::optional<TensorView>>;

// An argument as a library sees it: a Value whose tensors are views. An out number is the view of a tensor without
// dimensions, of bool, int64 or float64.
using HostValue =
    std::variant<std::monostate, TensorView, Int, double, bool, std::string, Ints, Doubles, Bools, TensorViews>;

// What a library says to a call: ok, or which outcome and why, in its own words.
struct Reply {
  Outcome outcome = Outcome::ok;
  std::string message;
};

// A library of kernels under test. Everything that is judged stands behind this interface: the reference, eager PyTorch
// as it was recorded, ExecuTorch's kernels.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;

  virtual std::string_view name() const = 0;

  // Versions and settings worth a line in a report.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }

  // The names of the binaries that compute; `executable` for the process's own.
  virtual std::vector<std::string> binaries() const { return {}; }

  // The names of all its kernels, where it can say; there may be some that the spec does not know.
  virtual std::vector<std::string> kernels() const { return {}; }

  // Whether the library has a kernel for the operator at all.
  virtual bool has(const Operator& op) const = 0;

  // Calls a kernel. Arguments follow the schema, out arguments last; every out has memory for at least its sizes. The
  // library writes the outs' data and, where a result is smaller than the memory given, their sizes. May crash.
  virtual Reply call(const Operator& op, std::span<HostValue> arguments) = 0;

  // What memory that the library allocates by other means than malloc holds from now on, until it is written to.
  virtual void fill_memory(std::byte) {}

  // Whether the library answers only calls that were recorded, so that mutating them is pointless.
  virtual bool recorded_only() const { return false; }

  // Whether another process or machine computes, of which nobody here sees the processor time.
  virtual bool is_remote() const { return false; }

  // How many children may call it at the same time.
  virtual int most_at_once() const { return std::numeric_limits<int>::max(); }

  // Whether a call can take the process down, so that calls belong into a child process.
  virtual bool may_crash() const { return true; }
};

}  // namespace assay
