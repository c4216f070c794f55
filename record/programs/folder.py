"""calls.json and the .npy files beside it."""

import io
import json

import numpy
import torch
from torch.utils import _pytree as pytree

from .program import tolerance_of


def write(made, data, results):
    """The files that hold the calls of a program: {name: bytes}."""
    files = Tensors()
    calls = [_call(i, call, outputs, files) for i, (call, outputs) in enumerate(zip(made.calls, results))]
    head = {"description": made.description} | ({"data": data} if data else {})
    text = json.dumps(head | {"calls": calls}, indent=1, allow_nan=False) + "\n"
    return files.bytes | {"calls.json": text.encode()}


def _call(index, call, outputs, files):
    inputs = pytree.tree_leaves(call.inputs, is_leaf=lambda v: v is None)
    relative, absolute = call.tolerance or tolerance_of(inputs + outputs)
    return {
        "method": call.method,
        "inputs": [files.value(v, f"call{index}_input{i}") for i, v in enumerate(inputs)],
        "outputs": [files.value(v, f"call{index}_output{i}") for i, v in enumerate(outputs)],
        "rtol": relative,
        "atol": absolute,
    }


class Tensors:
    """.npy files; equal ones are written once."""

    def __init__(self):
        self.bytes = {}
        self.names = {}

    def value(self, value, name):
        """The value in the form of calls.json; a tensor becomes a file."""
        if isinstance(value, torch.Tensor):
            data = npy(value)
            name = self.names.setdefault(data, f"{name}.npy")
            self.bytes[name] = data
            return name
        if isinstance(value, str):
            return {"string": value}
        if value is None or isinstance(value, (bool, int, float)):
            return value
        raise TypeError(f"wanted a tensor, number, string or None as value of a call, found {type(value).__name__}")


def npy(tensor):
    """The tensor's values in row-major order as a .npy file."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        array = tensor.view(torch.uint16).numpy().view("V2")
    else:
        array = tensor.numpy()
    stream = io.BytesIO()
    numpy.save(stream, array, allow_pickle=False)
    return stream.getvalue()
