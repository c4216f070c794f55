#pragma once

#include "reference/xnnpack/body.h"

// The meaning of a payload: the operators of the specification that compute its graph.
namespace assay::xnnpack {

// Adds the calls that compute the graph of the body. Requires a body in which the inputs of the graph are defined.
// Returns for each node the number of calls up to its end. Throws Fault with the node as its place: X46, X15.
std::vector<std::uint32_t> translate(Body& body);

// More than the bytes that the calls of a node take in a program, for a budget.
inline constexpr std::size_t bytes_of_node = 8192;

// The position of a node in messages, such as "node 7, Conv2d".
std::string place_of_node(const Graph& graph, std::uint32_t node);

// The elements of an argument of a delegate as a value of its payload: contiguous, its dims in the order of the
// argument's dim order. A tensor of rank 0 becomes a tensor of one dim, and unsigned bytes become signed ones.
Tensor as_value(Tensor argument);

// A program whose method "forward" computes the graph, with the dims of the graph's values as upper bounds of sizes.
// External value k of the graph is input k of the method or, if it is an output, output k - (the number of inputs).
struct PlainProgram {
  Program program;
  std::vector<std::uint32_t> ends;  // what translate() returns
};
// `charge` is called with the size of each constant before its bytes are added. Faults: those of translate(); X46 if an
// output has a lower external id than an input, or if an external id has no value.
PlainProgram plain_program(const Graph& graph, const std::function<void(std::size_t bytes)>& charge);
// The same without the constants of the program: it states the dtypes and sizes of inputs and outputs, and the calls.
PlainProgram without_constants(const Graph& graph);

}  // namespace assay::xnnpack
