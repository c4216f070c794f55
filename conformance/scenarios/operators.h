#pragma once

#include "conformance/contract/contract.h"
#include "conformance/scenarios/scenario.h"

namespace assay {

// Programs of one instruction, made of recorded calls of exported kinds: of each operator the first by digest that has
// dtypes which none before it has, `most` of them. Corpus and contract outlive what is added.
void add_operators(std::vector<Scenario>& all, const Corpus& corpus, const Contract& contract, std::size_t most = 4);

}  // namespace assay
