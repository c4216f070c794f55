"""The functional form of each operator, in C++: what a graph of torch.export calls where a program calls the operator with
outs."""
import re

from entry import SpecError
from wrapper import cpp_string


def functional_name(entry):
    """The key `functional` of an entry, or ATen's rule: `name.out` is `name`, `name.overload_out` is `name.overload`; an
    operator that returns a number has no other form. None: the operator changes an argument and has no outs."""
    if "functional" in entry.data:
        return entry.data["functional"]
    if entry.family == "number":
        return entry.name
    match = re.fullmatch(r"(\w+::\w+)\.(?:(\w+)_)?out", entry.name)
    return match and ".".join(filter(None, match.groups()))


def rows(entries):
    found = {}
    for entry in entries:
        name = functional_name(entry)
        if name in found:
            raise SpecError(f"{entry.name}: {name} is also the functional form of {found[name].name}; state the key `functional`")
        if name:
            found[name] = entry
    return sorted(found.items())


def lines(entries):
    """The table, behind that of the operators."""
    position = {name: i for i, name in enumerate(sorted(entry.name for entry in entries))}
    return ["constexpr FunctionalForm functional_forms[] = {",
            *(f"    {{{cpp_string(name)}, &table[{position[entry.name]}], {str(entry.data.get('options', False)).lower()}}},  // {entry.name}" for name, entry in rows(entries)),
            "};"]
