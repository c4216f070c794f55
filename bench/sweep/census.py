#!/usr/bin/env python3
"""Writes the calls of the operator sweep, from a census of programs:

    bench/sweep/census.py --assay build/release/assay PROGRAM... > bench/sweep/calls.yaml

A call is an operator with the dtypes, sizes and dim orders of its tensors and the values of its other arguments, as
`assay inspect` reads them from a program. The census counts every call of every program. Of each group of calls it keeps
the commonest call and the call with the most work, then the next commonest calls of all, until there are --most. Calls
of one operator and dtype are a group; convolutions whose kernels have the same size, with groups and without, are one,
too. A call without an input is not counted: a runtime computes it before it runs. Eager PyTorch has no kernel with outs
for some operators; they are listed, and not timed."""

import argparse
import collections
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

import yaml

from calls import Call, Tensor, flat

PRODUCTS = {"convolution", "mm", "bmm", "addmm", "linear"}  # whose work is more than their elements
# Their results depend on no element of an input.
CONSTANT = {"aten::full_like.out", "aten::zeros_like.out", "aten::ones_like.out", "aten::empty_like.out", "aten::scalar_tensor.out"}


UNKNOWN = object()  # a number that the program computes


def base(operator):
    return operator.partition("::")[2].partition(".")[0]


def is_timed(operator):
    return operator.startswith("aten::") and "." in operator  # the others return numbers


class Method:
    def __init__(self, listing):
        self.values, self.instructions = listing["values"], listing["instructions"]
        self.constants = {v["index"] for v in self.values if v["kind"] == "Tensor" and v["where"] == "constant" and not v["state"]}

    def value(self, index):
        v = self.values[index]
        kind, text = v["kind"], v.get("text")
        if kind == "Tensor":
            return Tensor(v["dtype"], tuple(v["sizes"]), tuple(v["dim_order"]), index in self.constants)
        if kind.endswith("TensorList"):
            items = [item for item in text.strip("[]").split(",") if item]
            return tuple(self.value(int(item[1:])) if item.startswith("%") else None for item in items)
        if kind == "Double":
            return float(text)
        if text is None:
            return UNKNOWN
        return None if kind == "Null" else frozen(json.loads(text))

    def calls(self):
        """Each call that has an input, with its outs. What is computed from constants alone is a constant, too."""
        for instruction in self.instructions:
            operands = instruction.get("operands", [])
            inputs = tuple(self.value(o["value"]) for o in operands if o["role"] == "input")
            outs = [o["value"] for o in operands if o["role"] != "input"]
            if all(t.constant for t in tensors(inputs)):
                self.constants.update(outs)
            else:
                yield instruction["name"], inputs, tensors(map(self.value, outs))


def tensors(values):
    return [t for t in flat(values) if isinstance(t, Tensor)]


def frozen(v):
    return tuple(map(frozen, v)) if isinstance(v, list) else v


def limited(operator, arguments):
    """The arguments, with limits for the elements of tensors of indices."""
    name = base(operator)
    if name in ("index", "index_put"):  # a tensor of indices, or None, for each of the first dimensions
        return arguments[:1] + (tuple(map(limit, arguments[1], arguments[0].sizes)),) + arguments[2:]
    if name == "embedding":
        return arguments[:1] + (limit(arguments[1], arguments[0].sizes[0]),) + arguments[2:]
    if name.startswith(("index_select", "gather", "scatter")):
        return arguments[:2] + (limit(arguments[2], arguments[0].sizes[arguments[1]]),) + arguments[3:]
    return arguments


def limit(indices, below):
    return dataclasses.replace(indices, below=below) if indices and indices.dtype in ("int64", "int32") else indices


def work(call, outs):
    """Multiply-adds of a product; of any other operator, the elements that it reads and writes."""
    given, results = call.tensors(), sum(t.count() for t in outs)
    if base(call.operator) not in PRODUCTS:
        return sum(t.count() for t in given) + results
    if base(call.operator) == "convolution":
        return results * given[1].count() // max(1, given[1].sizes[0])
    first = given[1] if base(call.operator) == "addmm" else given[0]
    return results * first.sizes[-1]


def listing(assay, program):
    done = subprocess.run([assay, "inspect", "--json", "--max-output", str(1 << 30), program], capture_output=True, text=True, check=False)
    said = json.loads(done.stdout or "{}")
    if "methods" not in said:
        sys.exit(f"census.py: {program}: {said.get('message') or done.stderr.strip()}")
    return said["methods"]


def group(call):
    """What the calls of a group have in common."""
    given = call.tensors()
    is_convolution = base(call.operator) == "convolution"
    form = (given[1].sizes[2:], call.arguments[6], call.arguments[8] > 1) if is_convolution else ()
    return call.operator, given[0].dtype, form


def kept(counts, works, most):
    """The calls to keep, sorted by operator."""
    groups = collections.defaultdict(list)
    for call in counts:
        groups[group(call)].append(call)
    chosen = {}
    for calls in groups.values():
        for key in (counts.__getitem__, works.__getitem__):
            chosen[max(calls, key=lambda call: (key(call), works[call], str(call)))] = True
    for call, _ in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
        if len(chosen) >= most:
            break
        chosen[call] = True
    return sorted(chosen, key=lambda call: (call.operator, -counts[call], str(call)))


def row(item):
    """An item in one line."""
    return yaml.safe_dump(item, default_flow_style=True, sort_keys=False, width=1 << 20).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", default="assay", help="the command assay")
    parser.add_argument("--most", type=int, default=230, help="how many calls to keep, if the operators need no more")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    options = parser.parse_args()
    counts, works, untimed = collections.Counter(), {}, collections.Counter()
    for program in options.programs:
        for method in listing(options.assay, program):
            for operator, arguments, outs in Method(method).calls():
                if operator in CONSTANT or UNKNOWN in flat(arguments):
                    continue
                if not is_timed(operator):
                    untimed[operator] += 1
                    continue
                call = Call(operator, limited(operator, arguments))
                counts[call] += 1
                works[call] = work(call, outs)
    calls = [Call(c.operator, c.arguments, counts[c]) for c in kept(counts, works, options.most)]
    names = [re.sub(r"[^\w.]+", "_", str(pathlib.Path(p).parent.name + "_" + pathlib.Path(p).stem).removesuffix("_program")) for p in options.programs]
    print("# bench/sweep/census.py wrote this list; bench/sweep/calls.py says how to read it.")
    print(f"programs: [{', '.join(names)}]")
    print(f"counted: {{calls: {sum(counts.values())}, different: {len(counts)}}}")
    print("# Operators that are not timed, with the number of their calls: eager PyTorch has no kernel with outs for them.")
    print(f"untimed: {row(dict(sorted(untimed.items())))}")
    print("empty: " + row({"operator": "aten::add.out", "arguments": ["float32[0]", "float32[0]", 1]}))
    print("calls:")
    for call in calls:
        print("  - " + row(call.written()))


if __name__ == "__main__":
    main()
