#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/text/output.h"
#include "format/xnnpack/nodes.h"

// Describes the graph in the payload of an XNNPACK delegate, valid or not.
namespace assay::inspect {

// A value of a payload's graph.
struct GraphValue {
  std::uint32_t id;
  std::string datatype;  // "qint8"
  std::span<const std::uint32_t> dims;
  // The kind of its quantization parameters, "PerChannel", with their fields; empty if it has none.
  std::string quantization;
  std::vector<std::pair<std::string, std::string>> parameters = {};
  std::string source = {};  // "argument 0, input", "named data \"weight\", 96 bytes", "a node"
};
GraphValue graph_value(const format::xnnpack::PayloadView& payload, std::uint32_t index);
std::string short_text(const GraphValue& value);  // "qint8[1,4,4,2]"

// The parameters of a node: the fields of its table, without operands, flags and ranks of lists.
std::vector<std::pair<std::string, std::string>> node_parameters(const xnn::Node& node);

// Writes a line for each value and for each node. Each line begins with `indent`.
void write_graph(const format::xnnpack::PayloadView& payload, std::string_view indent, text::Output& out);
// Writes the fields `values` and `nodes` into an open object.
void write_graph(const format::xnnpack::PayloadView& payload, text::JsonOutput& out);

// Opens the payload of the program's delegate and calls take(view), if the payload is one for XNNPACK and its structure
// is valid.
void with_graph(const format::ProgramView& program, const pte::BackendDelegate& delegate,
                const std::function<void(const format::xnnpack::PayloadView&)>& take);

}  // namespace assay::inspect
