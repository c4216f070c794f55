#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "reference/budget.h"
#include "reference/value.h"

// Values in the JSON form of the stream; spec/call.md defines it.
//   tensor   {"dtype":"float32","sizes":[2,3],"dim_order":[0,1],"data":"<base64>"}
//   other    1   1.5   {"double":"nan"}   true   null   {"ints":[1,2]}   {"string":"tanh"}   {"tensors":[...,null]}
namespace assay::text {

using Json = nlohmann::ordered_json;  // keys stay in the order in which they are written

// Parses one JSON text. Throws a malformed Fault of call.json if the text nests more than 64 deep, or if an object has
// more than 64 keys or one key twice. The memory of the result stays charged to the budget.
Json parse_json(std::string_view text, const Budget& budget = {});

// One line without its end, in ASCII: other characters are escaped, and bytes that are not UTF-8 are replaced.
std::string line_of(const Json& json);

// Throws a malformed Fault of the rule if json is not an object or has a key that is not in `keys`.
void check_keys(const Json& json, std::initializer_list<std::string_view> keys, std::string_view rule);

// The value that json denotes for an argument of a schema type ("Tensor?", "int[]"). Whether it has this type is
// checked by `call`. Throws a Fault: malformed call.tensor or call.argument, exhausted limits.rank.
Value value_of(const Json& json, std::string_view type);

// An out argument as a tensor without bytes, from {"dtype":...,"sizes":...,"dim_order":...}, where only the dtype is
// required. A list of outs is {"tensors":[...]}; null leaves the choice to the entry. Throws malformed Faults.
Value out_of(const Json& json);

// The JSON that `value_of` reads as the same value. The data of tensors are in base64.
Json to_json(const Value& value, std::string_view type);
Json to_json(const Tensor& tensor);

}  // namespace assay::text
