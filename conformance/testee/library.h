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

namespace assay::testee {

// A dense tensor in memory that the host owns: `data` holds the elements in the order of dim_order, without gaps.
struct TensorView {
  DType dtype = DType::float32;
  Dims sizes;
  Dims dim_order;
  std::byte* data = nullptr;
  std::size_t capacity = 0;  // bytes at data; an out may be resized as long as it fits

  std::size_t bytes() const { return static_cast<std::size_t>(count(sizes) * info(dtype).bytes); }
};

using TensorViews = std::vector<std::optional<TensorView>>;

// An argument as a library gets it: a Value whose tensors are views. An out that is a number is the view of a tensor
// without dimensions, of bool, int64 or float64.
using HostValue =
    std::variant<std::monostate, TensorView, Int, double, bool, std::string, Ints, Doubles, Bools, TensorViews>;

// A library's answer to a call: ok, or another outcome with the library's own message.
struct Reply {
  Outcome outcome = Outcome::ok;
  std::string message;
};

// A library of kernels under test. Its implementations are, among others, the reference, the recorded results of eager
// PyTorch, and ExecuTorch's kernels.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;

  virtual std::string_view name() const = 0;

  // Versions and settings that a report shows.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }

  // The names of the binaries that compute; `executable` is this process's own binary.
  virtual std::vector<std::string> binaries() const { return {}; }

  // The names of all its kernels, if the library can list them. The specification may not know some of them.
  virtual std::vector<std::string> kernels() const { return {}; }

  // Whether the library has a kernel for the operator.
  virtual bool has(const Operator& op) const = 0;

  // Calls a kernel. Arguments follow the schema, out arguments last; every out has memory for at least its sizes. The
  // library writes the outs' data and their sizes where these differ from the result's. May crash.
  virtual Reply call(const Operator& op, std::span<HostValue> arguments) = 0;

  // Whether an out may come with other sizes than those of the result.
  virtual bool takes_outs_of_other_sizes() const { return true; }

  // Sets the fill byte of memory that the library allocates by other means than malloc.
  virtual void fill_memory(std::byte) {}

  // Whether the library answers only recorded calls. Then mutating calls is pointless.
  virtual bool recorded_only() const { return false; }

  // Whether another process or machine computes. Then this process cannot measure the processor time.
  virtual bool is_remote() const { return false; }

  // The number of workers that may call it at the same time.
  virtual int most_at_once() const { return std::numeric_limits<int>::max(); }

  // Whether the processor of this machine has the instructions of its kernels.
  virtual bool runs_here() const { return true; }

  // Whether a call can crash the process. Then calls belong into a worker.
  virtual bool may_crash() const { return true; }
};

}  // namespace assay::testee
