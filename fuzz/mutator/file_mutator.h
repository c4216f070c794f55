#pragma once

#include <string>

#include "fuzz/mutator/random.h"

// Mutates files of every kind: programs, data files, bundles, and a program with a data file behind it.
namespace assay::fuzz {

// Changes a file, mostly so that it still decodes: its tables by the mutators of trees and instructions, its segments,
// the program in a bundle; rarely its header or some bytes. `other` is a file of any kind that parts are copied from. A
// file that does not decode is changed bytewise.
void mutate_file(std::string& file, const std::string& other, Random& random);

}  // namespace assay::fuzz
