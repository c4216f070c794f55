"""Calls as lines of `assay call --jsonl`."""

import base64

from call import Call
from operators import type_name
from tensors import DTYPE_NUMBERS, MEMORY_FORMAT_OF_NUMBER, Layout, Stored

DTYPES = {str(d).removeprefix("torch."): d for d in DTYPE_NUMBERS}


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
        return MEMORY_FORMAT_OF_NUMBER[value]
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
