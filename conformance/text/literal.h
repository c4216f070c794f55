#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "reference/value.h"

// Values in the form in which people read and write them; spec/call.md defines it.
//   tensor   [[1,2],[nan,-inf]]:f32   5:f32   zeros(2,0,3):f32   [[1,2],[3,4]]:f32:(1,0)
//   other    1   1.5   true   none   [1,2]   [1.0,2.0]   "tanh"   {[1]:f32,none}   float32
namespace assay::text {

// The value that the text denotes for an argument of a schema type ("Tensor?", "int[]"). `length` is the length of the
// schema's list (2 for int[2], 0 for int[]); a single entry is then repeated `length` times. The memory of the value is
// charged to the current Budget::Scope. Throws a Fault: malformed call.tensor or call.argument, exhausted limits.rank
// or limits.memory.
Value read_literal(std::string_view text, std::string_view type, Int length = 0);

// An out argument, as a tensor without bytes: a dtype and optionally a dim order, which sets the rank: `f32` or
// `f32:(0,2,3,1)`.
Tensor read_out_literal(std::string_view text);
std::string out_literal(const Tensor& out);

// The text that read_literal reads as the same value. If a tensor has more than `most` elements, only the first `most`
// are written, then … and its sizes; that text is for people only.
std::string literal(const Value& value, std::string_view type, Int most = std::numeric_limits<Int>::max());
std::string literal(const Value& value, Int most);  // as a literal of the type that the value has
std::string literal(const Tensor& tensor, Int most = std::numeric_limits<Int>::max());

}  // namespace assay::text
