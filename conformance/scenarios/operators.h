#pragma once

#include "conformance/contract/contract.h"
#include "conformance/scenarios/scenario.h"

namespace assay {

// Adds programs of one instruction, made from recorded calls of exported kinds. The calls of each operator are taken in
// the order of their digests; a call is chosen if it has dtypes that no chosen call has, at most `most` calls per
// operator. Corpus and contract must outlive the scenarios.
void add_operators(std::vector<Scenario>& all, const Corpus& corpus, const Contract& contract, std::size_t most = 4);

}  // namespace assay
