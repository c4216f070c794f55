#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "format/xnnpack/nodes.h"
#include "reference/program/memory.h"
#include "reference/program/program.h"
#include "reference/xnnpack/form.h"

// Graphs of payloads of XNNPACK delegates.
namespace assay::xnnpack {

using format::xnnpack::Datatype;
using Id = std::uint32_t;  // nodes refer to values by these numbers

// A graph that meets every rule, with the bytes of its constants.
class Graph {
 public:
  // Finds the bytes of named data by key. Returns nothing if there is no such key.
  using FindNamed = std::function<std::optional<std::span<const std::byte>>(std::string_view key)>;

  // `related` is what the rules of the payload refer to. Requires that the bytes and the named data outlive the object.
  // Throws Fault: the rules of payloads (area X).
  Graph(std::span<const std::byte> payload, const format::Related& related, FindNamed find_named, Form form);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  bool is_changed() const { return is_changed_; }  // whether this form differs from the literal one
  const xnn::Graph& tables() const { return *view_.tables; }
  std::span<const Id> ids() const { return ids_; }  // the ids of all values
  const xnn::Tensor& tensor(Id id) const { return values_->tensor(values_->find(id)); }
  const xnn::Value& value(Id id) const { return values_->value(values_->find(id)); }
  Datatype datatype(Id id) const { return format::xnnpack::datatype_of(tensor(id)); }
  bool is_constant(Id id) const { return tensor(id).constant() > 0; }
  bool is_output(Id id) const { return (tensor(id).flags() & format::xnnpack::output_flag) != 0; }

  // The elements of a constant, as they are stored. Faults: X15 if no file has them.
  std::span<const std::byte> elements(Id id) const;
  // The scale of the tensor, of its channels, or of its groups row by row. Faults: X15, X42.
  std::vector<float> scales(Id id) const;
  std::int32_t zero_point(Id id) const;  // of a tensor with one scale, else 0

 private:
  std::vector<float> stated_scales(Id id) const;
  std::span<const std::byte> constant(std::uint32_t index, std::uint64_t size) const;

  std::optional<AnyFile> file_;
  bool is_changed_ = false;
  format::xnnpack::PayloadView view_;
  FindNamed find_named_;
  std::optional<AlignedMemory> memory_;  // of `values_`
  std::optional<format::xnnpack::Values> values_;
  std::vector<Id> ids_;
};

// Folds the graph. `view` is the same graph. Returns whether anything changed.
bool fold(xnn::GraphT& graph, const format::xnnpack::PayloadView& view);

}  // namespace assay::xnnpack
