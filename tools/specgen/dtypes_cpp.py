"""The C++ of spec/dtypes.yaml: the dtypes, their sets, and lists of them."""
from dtype_facts import DTYPES, ENUMERATORS, ORDERS, SETS
from wrapper import cpp_string

KINDS = ["boolean", "integer", "floating", "complex", "opaque"]


def cpp(name):
    return f"DType::{ENUMERATORS[name]}"


def row(name):
    facts = DTYPES[name]
    part = facts.get("part", name)
    return [cpp(name), cpp_string(name), cpp_string(facts["alias"]), facts["bytes"], f'Kind::{facts["kind"]}', cpp(part),
            *(DTYPES[part].get(key, 0) for key in ("precision", "least_exponent"))]


def header():
    numbers = [facts["number"] for facts in DTYPES.values()]
    row_of_number = ", ".join(str(numbers.index(n) if n in numbers else -1) for n in range(max(numbers) + 1))
    return f"""#pragma once

#include <cstdint>
#include <string_view>

namespace assay {{

// The enumerators have the numbers of ExecuTorch's ScalarType, which .pte files store.
enum class DType : std::uint8_t {{
{_lines(f"  {ENUMERATORS[name]} = {facts['number']}," for name, facts in DTYPES.items())}
}};

// The kinds of dtypes. The elements of an `opaque` dtype can be moved, but their values are never read.
enum class Kind : std::uint8_t {{ {', '.join(KINDS)} }};

// The facts of spec/dtypes.yaml about a dtype.
struct DTypeFacts {{
  DType dtype;
  std::string_view name;   // the name in torch, such as "float32"
  std::string_view alias;  // the short name, such as "f32"
  int bytes;               // the size of one element in bytes
  Kind kind;
  DType part;  // for a complex dtype, the dtype of its real and imaginary parts; else the dtype itself
  // If `part` is floating, `precision` is the number of bits of the significand, including the hidden bit, and
  // 2^least_exponent is the smallest normal number. Otherwise both are 0.
  int precision;
  int least_exponent;
}};

inline constexpr DTypeFacts dtype_facts[] = {{
{_lines(f"    {{{', '.join(map(str, row(name)))}}}," for name in DTYPES)}
}};
// For each number, the index in dtype_facts of the dtype with this number, or -1 if no dtype has it.
inline constexpr std::int8_t dtype_rows[] = {{{row_of_number}}};

constexpr const DTypeFacts* find_dtype(std::int64_t number) {{
  const bool known = number >= 0 && number <= {max(numbers)} && dtype_rows[number] >= 0;
  return known ? &dtype_facts[dtype_rows[number]] : nullptr;
}}

}}  // namespace assay""".splitlines()


def sets_header():
    return f"""#pragma once

#include "dtype.gen.h"

namespace assay {{

// A set of dtypes: bit i is set if the dtype with number i is in the set.
using DTypeSet = std::uint32_t;

namespace sets {{

constexpr DTypeSet of(DType d) {{ return DTypeSet{{1}} << static_cast<unsigned>(d); }}
constexpr bool has(DTypeSet set, DType dtype) {{ return (set & of(dtype)) != 0; }}

// A set for each single dtype, then the sets of spec/dtypes.yaml.
{_lines(f"inline constexpr DTypeSet {name} = {' | '.join(f'of({cpp(dtype)})' for dtype in dtypes)};" for name, dtypes in SETS.items())}

}}  // namespace sets
}}  // namespace assay""".splitlines()


def lists_header():
    return f"""#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "dtype.gen.h"

namespace assay {{

// The type codes of numpy, without the character for the byte order.
inline constexpr std::pair<DType, std::string_view> numpy_codes[] = {{{_pairs("numpy", cpp_string)}}};

// The numbers of ONNX's TensorProto.DataType.
inline constexpr std::pair<DType, int> onnx_numbers[] = {{{_pairs("onnx", str)}}};

// The lists of dtypes under `orders` in spec/dtypes.yaml.
namespace dtype_orders {{
{_lines(f"inline constexpr std::array {name}{{{', '.join(map(cpp, dtypes))}}};" for name, dtypes in ORDERS.items())}
}}  // namespace dtype_orders

}}  // namespace assay""".splitlines()


def _lines(lines):
    return "\n".join(lines)


def _pairs(key, text):
    return ", ".join(f"{{{cpp(name)}, {text(facts[key])}}}" for name, facts in DTYPES.items() if key in facts)
