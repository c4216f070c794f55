#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/program/decoded.h"
#include "reference/xnnpack/graph.h"

// Payloads of XNNPACK delegates, and parts of them.
namespace assay::delegates {

// A payload with the named data of its constants.
struct Payload {
  Bytes bytes;
  std::map<std::string, Bytes, std::less<>> named;

  std::size_t size() const;                  // in bytes, with the named data
  xnnpack::Graph::FindNamed finder() const;  // requires that the payload outlives the function
};

// Copies a payload that meets every rule. `charge` is called with the number of bytes before they are copied. Throws
// the Faults of Graph if a payload breaks a rule.
Payload copied(std::span<const std::byte> bytes, const xnnpack::Graph::FindNamed& find_named,
               const std::function<void(std::size_t bytes)>& charge);

// A part of a payload: a payload that has some nodes of another payload. The value of an id is the same in both.
struct Part {
  Payload payload;
  std::vector<xnnpack::Id> inputs, outputs;  // the external values, in the order of their external ids
};

enum class Outputs {
  needed,  // the values that a node outside of the part reads, and the outputs of the whole graph
  all      // every value that a node of the part writes
};

// Cuts parts from a payload, whose graph it decodes once. Requires that the payload outlives the object.
class Cutter {
 public:
  explicit Cutter(const Payload& whole);  // throws the Faults of Graph

  const xnnpack::Graph& graph() const { return graph_; }  // the literal graph of the whole

  // The part of these nodes, which are given by their indices in ascending order. Its inputs are the values that the
  // nodes read and do not write. A value that is quantized row by row is no output. Requires that none of the
  // inputs is such a value.
  Part part_of(std::span<const std::uint32_t> nodes, Outputs outputs) const;

 private:
  const Payload& whole_;
  xnnpack::Graph graph_;
  XnnpackPayload decoded_;
};

// Whether a value is quantized row by row. Such a value exists only inside of a payload.
bool is_of_rows(const xnnpack::Graph& graph, xnnpack::Id id);

// A program whose method "forward" calls a delegate with this payload. Its inputs and outputs are the external values
// of the graph. If `is_dynamic` is true, the dims of the values are upper bounds of the sizes.
Program program_of(const Payload& payload, bool is_dynamic);

}  // namespace assay::delegates
