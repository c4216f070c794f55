"""The in-place form of operators: `aten::relu_` is `aten::relu.out` whose out is self. The reinplace pass of exporters puts it
into programs."""
import re

from entry import Entry, SpecError
from functional import functional_name
from wrapper import Wrapper


def in_place_name(entry):
    """The key `in_place` of an entry: a name, or true for ATen's rule: `name_.overload` for the functional form
    `name.overload`. None: the operator has no in-place form."""
    given = entry.data.get("in_place", False)
    if given is not True:
        return given or None
    return re.sub(r"^(\w+::\w+)", r"\1_", functional_name(entry))


def schema(entry):
    """ATen's schema of the in-place form: the same arguments without an out, of which the first is changed."""
    name, inputs = in_place_name(entry), entry.data["schema"].partition("(")[2].partition(") -> ")[0]
    changed = re.sub(r"^Tensor ", "Tensor(a!) ", re.sub(r",( \*,)? Tensor\(a!\) out$", "", inputs))
    if changed.count("!") != 1 or not changed.startswith("Tensor(a!)"):
        raise SpecError(f"{entry.name}: {name} needs a Tensor to change and one out")
    return f"{name}({changed}) -> Tensor(a!)"


def forms(wrappers):
    """(in-place form, operator), by name. A form has the operator's rules and wrapper; its arguments stand at the same places."""
    derived = [(Wrapper(Entry(w.entry.file, w.entry.data | {"schema": schema(w.entry)}), w.words), w) for w in wrappers if in_place_name(w.entry)]
    return sorted(derived, key=lambda pair: pair[0].entry.name)
