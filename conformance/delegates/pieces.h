#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/delegates/border.h"
#include "conformance/delegates/within.h"
#include "conformance/scenarios/recorded_program.h"

// The cases of `assay delegate`: whole delegates and parts of them. spec/delegates.md defines them.
namespace assay::delegates {

enum class Extent : std::uint8_t {
  node,  // one node, with the nodes that quantize its inputs row by row
  pair,  // a node and the only node that reads its output, or the nodes that read the same rows: XNNPACK may change
         // them together
  whole
};

// A call of a delegate with every value of the payload's literal graph that is not quantized row by row. The pieces of
// the call share it.
struct KnownCall {
  // Throws Fault if the payload has a node whose meaning is not known.
  KnownCall(DelegateCall made, const Budget& budget);

  DelegateCall call;
  Cutter cutter;
  Budget budget;  // is charged for the payload and the values
  std::map<xnnpack::Id, Tensor> values;
};

// A part of a delegate with the inputs that the reference has there.
struct Cut {
  Part part;
  bool is_dynamic;
  std::vector<Tensor> inputs;

  Program program() const { return program_of(part.payload, is_dynamic); }
};

// A part of a delegate that is judged alone.
struct Piece {
  std::string id;  // "f32_conv/0/0/3": the program, its call, the delegate call, and the nodes
  Extent extent;
  std::string kinds;        // "Conv2d", "Conv2d + Clamp" or "delegate"
  std::string description;  // "delegate 0 of forward, node 3, Conv2d: ..."
  std::vector<std::uint32_t> nodes;
  std::shared_ptr<const KnownCall> call = {};   // null if it is no part of a delegate
  std::optional<scenarios::Scenario> own = {};  // the scenario, if it is not that of spec/delegates.md for its nodes
  // Of a call that is judged as a whole: the method of the plain program, and its inputs.
  std::string method = {};
  std::vector<Value> arguments = {};

  Cut cut() const;  // requires a call
};
using Pieces = std::vector<std::shared_ptr<const Piece>>;

// The pieces of one delegate call. Nodes come first, in the order of the payload, then pairs, then the whole delegate.
// Throws Fault if the payload has a node whose meaning is not known.
Pieces pieces_of(DelegateCall call, const std::string& id, const Budget& budget = {});

// The pieces of all delegate calls of a program, by the ids of the calls. For each delegate there is also a case for
// each of these requests of the runtime and, if it is called with several sizes, a case with all of its calls. The run
// of the program and what the pieces keep are charged to the budget. Each case may use what is then left of it.
Pieces pieces_of(const scenarios::RecordedProgram& program, std::span<const std::string> requests = {},
                 const Budget& budget = {});

// A case for each payload that breaks a rule. It is to be refused, or to do no harm.
Pieces broken_payloads();

// One piece for each call of a program that must succeed: the outputs are judged by the method of the same name of
// `plain`, a program whose instructions are calls of operators. State is kept from one call to the next. Throws the
// Faults of IntervalMethod.
Pieces pieces_against(const scenarios::Recorded& program, const ValidProgram& plain, const Budget& budget = {});

// A scenario that loads the program of a piece, calls it and judges its outputs.
scenarios::Scenario scenario(const std::shared_ptr<const Piece>& piece);

}  // namespace assay::delegates
