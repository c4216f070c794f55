#!/usr/bin/env python3
"""Rewrites `declarations` of ExecuTorch's contract, the last of its keys, to what the edge dialect of an installed package declares of tensors.

usage: take_over_edge_dialect.py PACKAGE [executorch.yaml]"""
import pathlib
import re
import sys

import yaml

DTYPES = {"Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16", "Float": "float32",
          "Double": "float64", "Bool": "bool", "BFloat16": "bfloat16", "UInt16": "uint16", "ComplexFloat": "complex64", "ComplexDouble": "complex128"}

# An operator's out variant is named after its overload, "<name>.<overload>_out", or else "<name>.out"; ATen's exceptions:
OUT_VARIANTS = {"aten::any": "aten::any.all_out", "aten::arange.start_step": "aten::arange.start_out", "aten::div.Tensor_mode": "aten::div.out_mode",
                "aten::max.dim": "aten::max.dim_max", "aten::min.dim": "aten::min.dim_min", "aten::sum.dim_IntList": "aten::sum.IntList_out"}

EDGE = "exir/dialects/edge/edge.yaml"
OPERATORS = pathlib.Path(__file__).resolve().parents[3] / "spec" / "operators"


def load(path):
    return yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def kernel_names(package):
    for entry in load(package / "kernels/portable/functions.yaml"):
        yield "aten::" + entry["op"] if "op" in entry else entry["func"].partition("(")[0]


def out_variant(name, kernels):
    base, _, overload = name.partition(".")
    named_after_it = f"{base}.{overload}_out"
    variant = OUT_VARIANTS.get(name) or (named_after_it if named_after_it in kernels else f"{base}.out")
    return variant if variant in kernels else sys.exit(f"{name} has no kernel {variant}; name its out variant in OUT_VARIANTS")


def schemas():
    """The names of an operator's tensors among its inputs, and how many outs it has."""
    for file in OPERATORS.glob("*.yaml"):
        for name, arguments in re.findall(r'schema: "([\w:.]+)\((.*)\) ->', file.read_text()):
            yield name, (re.findall(r"Tensor[?\[\]]* (\w+)", arguments), arguments.count("!)"))


def declaration(name, entry, inputs, outs):
    declared = list(entry["type_constraint"][0])
    arguments = [a for a in declared[:-outs] if a in inputs] + declared[-outs:]
    chosen = [[row[a] for a in arguments] for row in entry["type_constraint"]]
    aliases = list(dict.fromkeys(alias for row in chosen for alias in row))
    rows = dict.fromkeys(" ".join(str(aliases.index(alias)) for alias in row) for row in chosen)
    yield f"    {name}:"
    yield f"      arguments: [{', '.join(arguments)}]"
    yield "      sets:"
    for alias in aliases:
        yield f"        - [{', '.join(DTYPES[d] for d in entry['type_alias'][alias])}]"
    yield f"      rows: [{', '.join(rows)}]"


def main(package, contract=pathlib.Path(__file__).with_name("executorch.yaml")):
    package, contract = pathlib.Path(package), pathlib.Path(contract)
    kernels, operators = set(kernel_names(package)), dict(schemas())
    by_name = {out_variant(entry["func"], kernels): entry for entry in load(package / EDGE)}
    version = next(line.split('"')[1] for line in (package / "version.py").read_text().splitlines() if line.startswith("__version__"))
    lines = ["declarations:", f"  source: \"{EDGE} of {version}; its documentation, Kernel Registration: kernels satisfy the dtype constraints defined in the edge dialect\"", "  operators:"]
    for name in sorted(by_name):
        lines += declaration(name, by_name[name], *operators[name])
    before = contract.read_text().partition("\ndeclarations:\n")[0]
    contract.write_text(before + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
