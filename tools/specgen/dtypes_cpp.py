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

// Values are those of the .pte format's ScalarType.
enum class DType : std::uint8_t {{
{_lines(f"  {ENUMERATORS[name]} = {facts['number']}," for name, facts in DTYPES.items())}
}};

// What an element can be read as: `opaque` elements are moved, never read.
enum class Kind : std::uint8_t {{ {', '.join(KINDS)} }};

// A row of spec/dtypes.yaml.
struct DTypeFacts {{
  DType dtype;
  std::string_view name;   // torch's, "float32"
  std::string_view alias;  // short, "f32"
  int bytes;               // of one element
  Kind kind;
  DType part;          // complex: the dtype of its real and of its imaginary part; else the dtype itself
  int precision;       // of a floating part: bits of the significand, the hidden one included
  int least_exponent;  // of a floating part: of its smallest normal number, 2^least_exponent
}};

inline constexpr DTypeFacts dtype_facts[] = {{
{_lines(f"    {{{', '.join(map(str, row(name)))}}}," for name in DTYPES)}
}};
// The row of each number, -1 where there is none.
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

// A set of dtypes, a bit for each number.
using DTypeSet = std::uint32_t;

namespace sets {{

constexpr DTypeSet of(DType d) {{ return DTypeSet{{1}} << static_cast<unsigned>(d); }}
constexpr bool has(DTypeSet set, DType dtype) {{ return (set & of(dtype)) != 0; }}

// Each dtype alone, then the sets of spec/dtypes.yaml.
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

// The type codes of numpy, without the byte order.
inline constexpr std::pair<DType, std::string_view> numpy_codes[] = {{{_pairs("numpy", cpp_string)}}};

// The numbers of ONNX's TensorProto.DataType.
inline constexpr std::pair<DType, int> onnx_numbers[] = {{{_pairs("onnx", str)}}};

// The orders of spec/dtypes.yaml.
namespace dtype_orders {{
{_lines(f"inline constexpr std::array {name}{{{', '.join(map(cpp, dtypes))}}};" for name, dtypes in ORDERS.items())}
}}  // namespace dtype_orders

}}  // namespace assay""".splitlines()


def _lines(lines):
    return "\n".join(lines)


def _pairs(key, text):
    return ", ".join(f"{{{cpp(name)}, {text(facts[key])}}}" for name, facts in DTYPES.items() if key in facts)
