"""The numbers of the wire protocol, spec/protocol.yaml, in each language that speaks it."""
import itertools

from entry import SpecError
from wrapper import cpp_string

# C++ has keywords for three kinds of values.
ENUMERATORS = {"int": "integer", "double": "real", "bool": "boolean", "ints": "integers", "doubles": "reals", "bools": "booleans"}


def numbers(table):
    return {name: row["number"] for name, row in table.items()}


def statuses(protocol):
    return {name: number for number, name in enumerate(protocol["statuses"])}


# -- C++ ----------------------------------------------------------------------------------------------------------------


def enumeration(name, values):
    return f"enum class {name} : std::uint8_t {{ {', '.join(f'{key} = {number}' for key, number in values.items())} }};"


def header(protocol, faults):
    if list(protocol["statuses"]) != [*faults, "internal"]:
        raise SpecError("protocol.yaml: the statuses must be the outcomes of faults.yaml and internal, in this order")
    kinds = {ENUMERATORS.get(name, name): number for name, number in numbers(protocol["values"]).items()}
    return ["#pragma once", "", "#include <array>", "#include <cstdint>", "#include <string_view>", "", "// The numbers of the wire protocol, from spec/protocol.yaml.", "namespace assay::wire {", "",
            f"inline constexpr std::array mark{{{', '.join(map(repr, protocol['mark']))}}};", f"inline constexpr std::uint8_t version = {protocol['version']}, log_kind = {protocol['log']};", "",
            enumeration("Request", numbers(protocol["requests"])), enumeration("ValueKind", kinds | {"generated": protocol["generated"]}),
            enumeration("Status", statuses(protocol)), enumeration("Generator", protocol["generators"]), "",
            "// The names of requests as texts have them. Request n has the name n - 1.",
            f"inline constexpr std::array<std::string_view, {len(protocol['requests'])}> request_names{{{', '.join(cpp_string(name.upper()) for name in protocol['requests'])}}};", "",
            "// The features that a server may list in its reply to CAPS.", *(f"inline constexpr std::string_view has_{name} = {cpp_string(name)};" for name in protocol["features"]), "",
            "// The facts in the reply to HELLO that assay reads.", *(f"inline constexpr std::string_view {name}_fact = {cpp_string(name)};" for name in protocol["facts"]), "", "}  // namespace assay::wire"]


# -- what is checked in: blocks.py --------------------------------------------------------------------------------------


def python_block(protocol):
    return [assigned(table) for table in (numbers(protocol["requests"]), statuses(protocol), numbers(protocol["values"]))]


def assigned(table):
    first, last = min(table.values()), max(table.values())
    if list(table.values()) != list(range(first, last + 1)):
        raise SpecError(f"protocol.yaml: the numbers of {', '.join(table)} must be consecutive")
    return f"{', '.join(map(str.upper, table))} = range({first}, {last + 1})"


def c_block(protocol):
    return [f"enum {{ {', '.join(f'{name.upper()} = {number}' for name, number in table.items())} }};"
            for table in (numbers(protocol["requests"]), statuses(protocol))]


def kernel_kinds_block(protocol):
    return enumerated("kind", [(name, row["number"], row.get("about", "")) for name, row in protocol["values"].items()])


def kernel_outcomes_block(protocol):
    return enumerated("outcome", [(name, number, protocol["statuses"][name]["kernel"]) for name, number in statuses(protocol).items()
                                  if "kernel" in protocol["statuses"][name]])


def enumerated(name, rows):
    """A public enumeration of kernel_library.h, a line for each (name, number, comment), the comments as clang-format aligns
    them."""
    items = [f"  ASSAY_KERNEL_{key.upper()} = {number}," for key, number, _ in rows]
    items[-1] = items[-1].removesuffix(",")
    lines = []
    for has_comment, group in itertools.groupby(zip(items, rows), lambda line: bool(line[1][2])):
        group = list(group)
        width = max(len(item) for item, _ in group)
        lines += [f"{item:{width}} /* {about} */" if has_comment else item for item, (_, _, about) in group]
    return [f"enum assay_kernel_{name} {{", *lines, "};"]


def requests_block(protocol):
    rows = [(row["number"], name.upper(), row["body"], row["reply"]) for name, row in protocol["requests"].items()]
    return markdown(("kind", "request", "body", "reply"), rows)


def values_block(protocol):
    return markdown(("kind", "name", "body"), [(row["number"], name, row["body"]) for name, row in protocol["values"].items()])


def statuses_block(protocol):
    rows = [(number, ": ".join(filter(None, (name, protocol["statuses"][name]["meaning"])))) for name, number in statuses(protocol).items()]
    return markdown(("status", "meaning"), rows)


def features_block(protocol):
    return markdown(("feature", "meaning"), [(f"`{name}`", meaning) for name, meaning in protocol["features"].items()])


def facts_block(protocol):
    return markdown(("fact", "meaning"), [(f"`{name}`", meaning) for name, meaning in protocol["facts"].items()])


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return ["", *(" ".join(f"| {cell}" if cell != "" else "|" for cell in row) + " |" for row in lines), ""]
