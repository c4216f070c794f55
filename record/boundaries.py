"""Records into golden/boundaries eager PyTorch's answers to calls on both sides of the boundary of each rule.

The program boundary_calls of tests/operators, which the preset release builds, makes the calls from those in
golden/operators.
"""

import base64
import json
import subprocess

import record_calls
import worker
from call import Call
from operators import type_name
from tensors import DTYPE_NUMBERS, MEMORY_FORMAT_NUMBERS, Layout, Stored

DTYPES = {str(d).removeprefix("torch."): d for d in DTYPE_NUMBERS}
MEMORY_FORMATS = {number: f for f, number in MEMORY_FORMAT_NUMBERS.items()}


def main():
    options = record_calls.options_with_program(__doc__, "build/release/tests/boundary_calls", "boundaries")
    record_calls.run(options, lambda operator: worker.record_given(operator, made_by(options.program, operator)), lambda operator: {})


def made_by(program, operator):
    """The boundary calls of an operator that eager can run; it has no tensors of quantized dtypes, for example."""
    command = [program, record_calls.ROOT / "golden" / "operators", operator.name]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    made = (call_of(operator, json.loads(line)) for line in lines)
    return [c for c in made if c is not None]


def call_of(operator, request):
    """The call of a request of `assay call --jsonl`; None if eager does not have its dtype or memory format."""
    try:
        arguments = tuple(value_of(v, type_name(a)) for v, a in zip(request["args"], operator.inputs, strict=True))
        outs = tuple(o and DTYPES[o["dtype"]] for o in request["out"])
    except KeyError:
        return None
    return Call(arguments, request["id"], outs if any(outs) else ())


def value_of(value, kind):
    if value is None:
        return None
    if kind.startswith("ScalarType"):
        return DTYPES[value]
    if kind.startswith("MemoryFormat"):
        return MEMORY_FORMATS[value]
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        layout = Layout(DTYPES[value["dtype"]], tuple(value["sizes"]), tuple(value["dim_order"]))
        return Stored(layout, base64.b64decode(value["data"]))
    (name, content) = next(iter(value.items()))
    if name == "tensors":
        return tuple(value_of(v, "Tensor") for v in content)
    if name == "doubles":
        return tuple(float(x) for x in content)
    return {"ints": tuple, "bools": tuple, "string": str, "double": float}[name](content)
