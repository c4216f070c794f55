#pragma once

#include <memory>
#include <vector>

#include "conformance/delegates/composition.h"
#include "conformance/scenarios/scenario.h"

// The judge of a delegate's outputs.
namespace assay::delegates {

// An interval of right values decides about an output only if it is at most so wide, as a share of the largest
// expected absolute value of the output; of an output of codes, as a share of the number of codes.
inline constexpr double widest_decided = 1.0 / 64;

// The right outputs of a payload: those of one of its graphs, with sums of float16 numbers in float32 or in float16.
// Each item has all outputs.
using RightGraphs = std::vector<std::vector<RightOutput>>;

// The right outputs of the folded graph and of the literal graph, first with sums in float32; each differs from the
// others.
RightGraphs right_graphs(const Payload& payload, std::span<const Tensor> inputs, const Budget& budget = {});

// `fail` if the outputs are outside of the intervals of each item; the message is that of the item whose intervals are
// nearest. `undecided` if they are inside only of items with an interval that is wider than `widest_decided`; the
// message states its width. The distance of an element is its distance from the
// expected value in units of the distance between the expected value and the end of the interval on the same side.
judge::Judgement judge_outputs(const RightGraphs& right, std::span<const Value> outputs);

// A step's judge of these outputs. A runtime that refuses the payload as unsupported is `unsupported`.
scenarios::StepJudge is_within(std::shared_ptr<const RightGraphs> right);

}  // namespace assay::delegates
