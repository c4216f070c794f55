"""What operators do to their arguments, in C++: the table that the analysis of programs reads (format/operator_roles.h)."""
from entry import SpecError, parse_schema
from wrapper import cpp_string

KINDS = {"Tensor": "tensor", "Tensor[]": "tensors", "Tensor?[]": "optional_tensors", "int[]": "integers", "float[]": "doubles", "bool[]": "bools", "str": "string",
         "Scalar": "scalar", "float": "real", "bool": "boolean", **dict.fromkeys(("int", "ScalarType", "MemoryFormat"), "integer")}
RESULTS = {"bool": "boolean", "int": "integer", "Scalar": "number"}
USES = {"read", "viewed", "grown"}


def use(wrapper, argument):
    """An argument is read if its elements reach the function, or if it is a number, which a rule may use."""
    if argument.out:
        return "written"
    reaches = argument in wrapper.passed and (wrapper.entry.family != "number" or wrapper.how(argument)[0] == "item")
    if argument.mutated:
        return "changed" if reaches else "overwritten"
    return "read" if reaches or not argument.type.startswith("Tensor") else "asked"


def role(argument, used):
    return f"{{ArgumentKind::{KINDS[argument.type.removesuffix('?')]}, {str(argument.optional).lower()}, Use::{used}}}"


def of_entry(wrapper):
    """(name, roles, result, whether outs may alias arguments). The out for the new value of a mutated argument is not counted."""
    entry = wrapper.entry
    own = [a for a in entry.arguments if not (a.out and a.name.removesuffix("_out") in {m.name for m in entry.inputs if m.mutated})]
    result = RESULTS[entry.outs[0].type] if entry.family == "number" else "tensors"
    return entry.name, [role(a, use(wrapper, a)) for a in own], result, entry.family == "elementwise"


def of_handle(item):
    name, arguments = parse_schema(item["schema"])
    if [a.name for a in arguments] != list(item["uses"]) or not USES >= set(item["uses"].values()):
        raise SpecError(f"{name}: `uses` must give each argument one of {', '.join(sorted(USES))}")
    return name, [role(a, item["uses"][a.name]) for a in arguments], "none", False


def header(wrappers, forms, handles):
    """The table of all operators, of in-place forms, which are pairs (form, operator), and of handles."""
    operators = sorted([*map(of_entry, [*wrappers, *(form for form, _ in forms)]), *map(of_handle, handles)])
    index_of = {name: i for i, (name, *_) in enumerate(operators)}
    with_out = {form.entry.name: index_of[operator.entry.name] for form, operator in forms}
    if 0 in with_out.values():
        raise SpecError(f"{operators[0][0]}: the first operator has an in-place form, but with_out is 0 for operators that are none")
    arguments, rows = [], []
    for name, roles, result, in_place in operators:
        rows.append(f"    {{{cpp_string(name)}, {len(arguments)}, {len(roles)}, OperatorRoles::Result::{result}, {str(in_place).lower()}, {with_out.get(name, 0)}}},")
        arguments += roles
    return ["#pragma once", "", '#include "format/operator_roles.h"', "", "namespace assay::format {", "",
            "inline constexpr ArgumentRole argument_roles[] = {", *(f"    {a}," for a in arguments), "};", "",
            "// Sorted by name.", "inline constexpr OperatorRoles operator_roles[] = {", *rows, "};", "", "}  // namespace assay::format"]
