#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace assay {

// Changes one number in a flatbuffer and leaves its structure whole: a scalar field, a union's type, an element of a
// vector of scalars, or which table an element of a vector of tables is. `schema` is the binary form of the tables'
// schema, `tables` a flatbuffer verified by it. False: it has no number.
bool mutate_table(std::span<std::uint8_t> tables, const std::uint8_t* schema, std::minstd_rand& random);

}  // namespace assay
